import type { Logger } from '../../../application/ports/logger.js';
import type { ApiClient } from '../client/api-client.js';
import { ApiError, ApiProtocolError, ApiSilenceError } from '../client/api-error.js';
import type { KnownObjects } from './known-objects.js';
import { requestPages, type ListOptions } from './list-request.js';
import { Replacement } from './replacement.js';
import type { Resource } from './resources.js';
import { streamList, type Listed } from './streaming-list.js';

/** What a server answers that does not stream lists: Invalid. */
const INVALID = 422;

/** Lists a resource as a stream; in pages where a stream fails, and from then on where the server refuses it. */
export class Lister {
  constructor(
    private readonly client: ApiClient,
    private readonly resource: Resource,
    private readonly known: KnownObjects,
    private readonly logger: Logger,
    /** Whether to try a stream. */
    private streaming: boolean,
  ) {}

  /** Brings what is known up to date. Throws what `streamList` and `requestPages` throw. */
  async list(options: ListOptions): Promise<Listed> {
    const { client, resource } = this;
    if (this.streaming) {
      try {
        return await streamList(client, resource, options, new Replacement(this.known, this.logger));
      } catch (error) {
        this.judge(error);
      }
    }
    const replacement = new Replacement(this.known, this.logger);
    return { version: await requestPages(client, resource, options, replacement) };
  }

  /** Throws the error unless pages may do better: they can leave out a single object. */
  private judge(error: unknown): void {
    const refused = error instanceof ApiError && error.code === INVALID;
    if (!refused && !(error instanceof ApiProtocolError) && !(error instanceof ApiSilenceError)) throw error;
    if (refused) this.streaming = false;
    this.logger.debug({ error: error.message }, 'the API server does not stream this list; listing in pages');
  }
}
