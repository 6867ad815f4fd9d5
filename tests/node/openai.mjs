// The `openai` client: chat completions and Responses.
import OpenAI from 'openai';
import { headers, run } from './seen.mjs';

const question = 'What is my kayak called, ✅ Petrel or Puffin?';

run(async (url, { api, entity, streaming }, saw) => {
  const client = new OpenAI({
    baseURL: `${url}/v1`,
    apiKey: 'client-key',
    maxRetries: 0,
    defaultHeaders: { 'X-MemG-Entity': entity },
  });
  const chat = api === 'chat';
  const place = chat ? client.chat.completions : client.responses;
  const request = chat
    ? { model: 'gpt-5.1', messages: [{ role: 'user', content: question }], stream_options: streaming ? { include_usage: true } : undefined }
    : { model: 'gpt-5.1', input: question, store: false };
  const { data, response, request_id } = await place.create({ ...request, stream: streaming }).withResponse();
  saw({ status: response.status, text: response.statusText, headers: headers(response.headers), request_id });
  if (!streaming) {
    saw(data);
    saw(data.output_text);
  } else {
    for await (const chunk of data) saw(chunk);
  }
});
