import type { RequestContext } from '@kubernetes/client-node/dist/gen/http/http.js';
import { errorMessage } from '../../../application/error-message.js';
import { fields, fieldsOf, list, optional, text, type Shape } from '../../../domain/shape.js';
import type { ApiClient, ApiRequest } from './api-client.js';
import { ApiProtocolError } from './api-error.js';

/** A request that client-node builds. */
type BuiltRequest = Promise<RequestContext>;

/** A page of a list. */
export type BuildPage = (page: { readonly limit: number; readonly next: string | undefined }) => BuiltRequest;

/** How a request is sent, besides what client-node has put into it. */
type SendOptions = Pick<ApiRequest, 'accept' | 'contentType' | 'large' | 'signal'>;

/** Objects of a page. */
const PAGE = 500;

interface Page<Item> {
  readonly metadata?: { readonly continue?: string };
  readonly items: readonly Item[];
}

/** Sends a request. Throws as `ApiClient.json`, and ApiProtocolError for a response of another shape. */
export async function send<Type>(
  client: Pick<ApiClient, 'json'>,
  built: BuiltRequest,
  shape: Shape<Type>,
  options: SendOptions = {},
): Promise<Type> {
  const request = await apiRequest(built, options);
  const answer = await client.json(request);
  try {
    return shape(answer, '');
  } catch (cause) {
    throw new ApiProtocolError(`${request.method} ${request.path}`, errorMessage(cause), { cause });
  }
}

/** All objects of a collection, page by page. Throws as `send`. */
export async function listAll<Item>(
  client: Pick<ApiClient, 'json'>,
  build: BuildPage,
  item: Shape<Item>,
  options: SendOptions = {},
): Promise<readonly Item[]> {
  const shape = fieldsOf<Page<Item>>({
    metadata: optional(fields({ continue: optional(text) })),
    items: list(item),
  });
  const items: Item[] = [];
  let next: string | undefined;
  do {
    const page = await send(client, build({ limit: PAGE, next }), shape, { ...options, large: true });
    for (const one of page.items) items.push(one);
    next = page.metadata?.continue || undefined;
  } while (next);
  return items;
}

/** For `ApiClient`. */
export async function apiRequest(built: BuiltRequest, options: SendOptions): Promise<ApiRequest> {
  const context = await built;
  const { pathname, searchParams } = new URL(context.getUrl());
  const body = context.getBody() as string | undefined;
  return {
    method: context.getHttpMethod() as ApiRequest['method'],
    path: pathname,
    query: Object.fromEntries(searchParams),
    ...(body !== undefined && { body }),
    ...options,
  };
}
