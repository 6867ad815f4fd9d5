// The `openai` client's own helpers for streams, which keep count of what may come after what.
import OpenAI from 'openai';
import { run } from './seen.mjs';

const question = 'What is my kayak called, ✅ Petrel or Puffin?';

run(async (url, { api, entity }, saw) => {
  const client = new OpenAI({
    baseURL: `${url}/v1`,
    apiKey: 'client-key',
    maxRetries: 0,
    defaultHeaders: { 'X-MemG-Entity': entity },
  });
  if (api === 'chat') {
    const stream = client.chat.completions.stream({ model: 'gpt-5.1', messages: [{ role: 'user', content: question }] });
    for (const name of ['content', 'tool_calls.function.arguments.done', 'error']) stream.on(name, (what) => saw({ [name]: what }));
    saw(await stream.finalChatCompletion());
  } else {
    const stream = client.responses.stream({ model: 'gpt-5.1', input: question });
    for await (const event of stream) saw(event);
    saw(await stream.finalResponse());
  }
});
