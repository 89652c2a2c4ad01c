import type { ServiceLookup } from '../../application/ports/service-lookup.js';
import type { ServiceKey } from '../../domain/model/service-port-name.js';
import type { ApiClient } from './client/api-client.js';

/** How long the API server may usually take, in milliseconds. */
const USUAL_LIMIT = 5000;

const SERVICE = /^([a-z0-9-]{1,63})\/([a-z0-9.-]{1,253})$/;

/** Looks for Services at the API server: one at a time, so that questions do not use up the rate of the watches. */
export class ApiServiceLookup implements ServiceLookup {
  private turn: Promise<unknown> = Promise.resolve();

  /** @param limit how long the API server may take for an answer, in milliseconds */
  constructor(
    private readonly client: () => Promise<ApiClient>,
    private readonly limit = USUAL_LIMIT,
  ) {}

  find(service: ServiceKey): Promise<unknown> {
    const [, namespace, name] = SERVICE.exec(service) ?? [];
    if (namespace === undefined || name === undefined) return Promise.resolve(undefined);
    const answer = this.turn.then(() => this.list(namespace, name));
    this.turn = answer.catch(() => {});
    return answer;
  }

  /** A list of one: the role of node proxies allows no other way to read Services. */
  private async list(namespace: string, name: string): Promise<unknown> {
    const client = await this.client();
    const list = (await client.json({
      path: `/api/v1/namespaces/${namespace}/services`,
      query: { fieldSelector: `metadata.name=${name}` },
      signal: AbortSignal.timeout(this.limit),
    })) as { readonly items?: readonly unknown[] } | null;
    return list?.items?.[0];
  }
}
