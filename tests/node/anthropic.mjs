// The `@anthropic-ai/sdk` client.
import Anthropic from '@anthropic-ai/sdk';
import { headers, run } from './seen.mjs';

const question = 'What is my kayak called, ✅ Petrel or Puffin?';

run(async (url, { entity, streaming }, saw) => {
  const client = new Anthropic({
    baseURL: url,
    apiKey: 'client-key',
    maxRetries: 0,
    logLevel: 'off',
    defaultHeaders: { 'X-MemG-Entity': entity },
  });
  const request = { model: 'claude-opus-4-5', max_tokens: 100, messages: [{ role: 'user', content: question }] };
  if (!streaming) {
    const { data, response, request_id } = await client.messages.create(request).withResponse();
    saw({ status: response.status, text: response.statusText, headers: headers(response.headers), request_id });
    saw(data);
    return;
  }
  const stream = client.messages.stream(request);
  for await (const event of stream) saw(event);
  saw(await stream.finalMessage());
  saw({ request_id: stream.request_id, headers: headers(stream.response?.headers) });
});
