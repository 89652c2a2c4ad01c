import { errorMessage } from '../../../application/error-message.js';
import { fields, fieldsOf, list, optional, text, type Shape } from '../../../domain/shapes/shape.js';
import type { ApiClient, ApiRequest, Query } from './api-client.js';
import { ApiProtocolError } from './api-error.js';

/** Proxies run on Linux. */
export const LINUX_NODES: Query = { labelSelector: 'kubernetes.io/os!=windows' };

/** Objects of a page. */
const PAGE = 500;

interface Page<Item> {
  readonly metadata?: { readonly continue?: string };
  readonly items: readonly Item[];
}

/** All objects of a collection, page by page. Throws as `ApiClient.json`, and ApiProtocolError for what has another shape. */
export async function listAll<Item>(
  client: ApiClient,
  item: Shape<Item>,
  path: string,
  query: Query,
  options: Pick<ApiRequest, 'accept' | 'signal'> = {},
): Promise<readonly Item[]> {
  const shape = fieldsOf<Page<Item>>({
    metadata: optional(fields({ continue: optional(text) })),
    items: list(item),
  });
  const items: Item[] = [];
  let next: string | undefined;
  do {
    const request = { ...options, path, query: { ...query, limit: PAGE, continue: next }, large: true };
    const page = checked(await client.json(request), shape, path);
    for (const one of page.items) items.push(one);
    next = page.metadata?.continue;
  } while (next);
  return items;
}

/** What came from a path, if it has that shape. @throws ApiProtocolError */
export function checked<Type>(answer: unknown, shape: Shape<Type>, path: string): Type {
  try {
    return shape(answer, '');
  } catch (cause) {
    throw new ApiProtocolError(`GET ${path}`, errorMessage(cause), { cause });
  }
}
