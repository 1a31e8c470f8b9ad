import { isJsonObject, type Json, type JsonObject } from '../json.ts';
import type { AssistantTurnMessage, Message, MessageRequest } from '../message.ts';
import type { ExportContext, ImportContext } from './context.ts';
import { type MessageResponse, messageResponse } from './message-response.ts';
import { writeChatMessages } from './openai-chat-export.ts';
import { readChatMessages } from './openai-chat-import.ts';
import { readFinish, readSettings, readUsage, writeFinish, writeSettings, writeUsage } from './openai-chat-settings.ts';

/** Converts what Chat Completions says into the message IR. Total: what cannot be kept is told through `context.lose`. */
export const fromOpenAIChat: {
  messages(messages: readonly Json[], context?: ImportContext): readonly Message[];
  request(body: JsonObject, context?: ImportContext): MessageRequest;
  response(completion: JsonObject, context?: ImportContext): MessageResponse;
} = {
  messages: (messages, context = {}) => readChatMessages(messages, context).map(({ value }) => value),
  request: (body, context = {}) => {
    const messages = Array.isArray(body.messages) ? (body.messages as readonly Json[]) : [];
    return {
      ...readSettings(body, context.lose ?? (() => undefined)),
      messages: fromOpenAIChat.messages(messages, context),
    };
  },
  response: (completion, context = {}) => {
    const choices = Array.isArray(completion.choices)
      ? (completion.choices as readonly Json[]).filter(isJsonObject)
      : [];
    if (choices.length > 1) context.lose?.({ index: null, detail: `${choices.length - 1} further choices` });
    const [choice] = choices;
    const [message] = fromOpenAIChat.messages(choice?.message === undefined ? [] : [choice.message], context);
    const answer: AssistantTurnMessage = message?.role === 'assistant' ? message : { role: 'assistant', content: [] };
    return messageResponse({
      id: typeof completion.id === 'string' ? completion.id : '',
      model: typeof completion.model === 'string' ? completion.model : '',
      message: answer,
      stopReason: readFinish(
        choice?.finish_reason,
        answer.content.some((block) => block.type === 'refusal'),
      ),
      usage: readUsage(completion.usage),
    });
  },
};

/** Converts the message IR into what Chat Completions says. */
export const toOpenAIChat: {
  messages(messages: readonly Message[], context?: ExportContext): readonly JsonObject[];
  request(request: MessageRequest, context?: ExportContext): JsonObject;
  response(response: MessageResponse, context?: ExportContext): JsonObject;
} = {
  messages: (messages, context = {}) => writeChatMessages(messages, context),
  request: (request, context = {}) => {
    const { model, ...settings } = writeSettings(request);
    return { model: model ?? '', messages: writeChatMessages(request.messages, context), ...settings };
  },
  response: ({ id, model, message, stopReason, usage }, context = {}) => ({
    id,
    object: 'chat.completion',
    model,
    choices: [
      { index: 0, message: writeChatMessages([message], context)[0] ?? null, finish_reason: writeFinish(stopReason) },
    ],
    ...(usage === null ? {} : { usage: writeUsage(usage) }),
  }),
};
