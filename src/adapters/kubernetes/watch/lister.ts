import type { Logger } from '../../../application/ports/logger.js';
import type { ApiClient } from '../client/api-client.js';
import { ApiError, ApiProtocolError, ApiSilenceError } from '../client/api-error.js';
import type { KnownObjects } from './known-objects.js';
import { requestPages } from './list-request.js';
import type { OpenWatch } from './open-watch.js';
import { Replacement } from './replacement.js';
import type { Resource } from './resources.js';
import { streamList } from './streaming-list.js';
import type { WatchRequest } from './watch-request.js';

export interface ListOptions extends Omit<WatchRequest, 'initialEvents'> {
  /** Objects in a page. */
  readonly pageSize: number;
  /** The server has no time for the next page; resolves when it may be asked for that page again. */
  readonly onRefused: (error: ApiError) => Promise<void>;
}

export interface Listed {
  readonly version: string;
  /** The watch that the list came with; its next event is the first after the list. */
  readonly watch?: OpenWatch;
}

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
    if (this.streaming) {
      try {
        return await streamList(
          this.client,
          this.resource,
          options,
          new Replacement(this.known, this.logger),
        );
      } catch (error) {
        this.judge(error);
      }
    }
    return { version: await this.listPages(options) };
  }

  /** Throws the error unless pages may do better: they can leave out a single object. */
  private judge(error: unknown): void {
    const refused = error instanceof ApiError && error.code === INVALID;
    if (!refused && !(error instanceof ApiProtocolError) && !(error instanceof ApiSilenceError)) throw error;
    if (refused) this.streaming = false;
    this.logger.debug({ error: error.message }, 'the API server does not stream this list; listing in pages');
  }

  private async listPages({ pageSize, from, signal, onActivity, onRefused }: ListOptions): Promise<string> {
    const replacement = new Replacement(this.known, this.logger);
    const version = await requestPages(this.client, this.resource, {
      pageSize,
      from,
      signal,
      onObject: (object) => replacement.add(object),
      onUnreadable: (object) => replacement.addUnreadable(object),
      onActivity,
      onRefused,
      onRestart: () => {
        this.logger.debug({}, 'the list expired between pages; listing again without pages');
        replacement.restart();
      },
    });
    replacement.end();
    return version;
  }
}
