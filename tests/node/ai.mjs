// The AI SDK, which checks every chunk against a schema, with its providers for compatible APIs and for Anthropic.
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, jsonSchema, streamText, tool } from 'ai';
import { failure, headers, run } from './seen.mjs';

globalThis.AI_SDK_LOG_WARNINGS = false;

const question = 'What is my kayak called, ✅ Petrel or Puffin?';
const of = tool({ description: 'A place', inputSchema: jsonSchema({ type: 'object', properties: { of: { type: 'string' } } }) });

// Steps hold the response's headers, some parts an error.
function part(value) {
  if (value == null || typeof value !== 'object') return value;
  if (value instanceof Error) return failure(value);
  const entries = Object.entries(value).filter(([name]) => name !== 'headers');
  return Array.isArray(value) ? value.map(part) : Object.fromEntries(entries.map(([name, inner]) => [name, part(inner)]));
}

run(async (url, { api, entity, streaming }, saw) => {
  const common = { baseURL: `${url}/v1`, apiKey: 'client-key', headers: { 'X-MemG-Entity': entity } };
  const model =
    api === 'chat'
      ? createOpenAICompatible({ name: 'scripted', includeUsage: true, ...common })('gpt-5.1')
      : createAnthropic(common)('claude-opus-4-5');
  const request = { model, prompt: question, maxRetries: 0, tools: { harbour: of, tide: of } };
  if (!streaming) {
    const { text, reasoningText, toolCalls, usage, finishReason, response, providerMetadata, warnings } = await generateText(request);
    saw({ text, reasoningText, toolCalls: part(toolCalls), usage, finishReason, providerMetadata, warnings });
    saw({ id: response.id, model: response.modelId, headers: headers(response.headers), body: response.body });
    return;
  }
  const result = streamText({ ...request, onError: () => {} });
  for await (const one of result.fullStream) saw(part(one));
  const response = await result.response;
  saw({ text: await result.text, reason: await result.finishReason, usage: await result.totalUsage, headers: headers(response.headers) });
});
