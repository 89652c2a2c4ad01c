import type { Logger } from '../../../application/ports/logger.js';
import type { ApiClient } from '../client/api-client.js';
import { ApiError, ApiProtocolError, ApiSilenceError } from '../client/api-error.js';
import type { KnownObjects } from './known-objects.js';
import { requestPages, type ListOptions } from './list-request.js';
import type { OpenWatch, WatchRequest } from './open-watch.js';
import { Replacement } from './replacement.js';
import type { Resource } from './resources.js';
import { streamList, type Listed } from './streaming-list.js';
import { openWatch } from './watch-request.js';

const BAD_REQUEST = 400;
/** The response of a server that does not stream lists: Invalid. */
const INVALID = 422;

/**
 * Lists and watches a resource with the features that the API server has: lists as streams, else in pages; with the field
 * selector, else without. A rejected feature is not requested again until `relearn`.
 */
export class ResourceReader {
  private streams: boolean;
  private selects = true;
  private reported = false;

  constructor(
    private readonly client: ApiClient,
    private readonly resource: Resource,
    private readonly known: KnownObjects,
    private readonly logger: Logger,
    /** Whether to try streams. */
    private readonly streamLists: boolean,
  ) {
    this.streams = streamLists;
  }

  /** Brings the known objects up to date. Throws what `streamList` and `requestPages` throw. */
  list(options: ListOptions): Promise<Listed> {
    return this.select((resource) => this.streamOrPages(resource, options));
  }

  /** Throws as `openWatch`. */
  watch(request: WatchRequest): Promise<OpenWatch> {
    return this.select((resource) => openWatch(this.client, resource, request));
  }

  /** The next request may reach another server, such as one that was upgraded. */
  relearn(): void {
    this.streams = this.streamLists;
    this.selects = true;
  }

  /** Sends a request with the field selector; without, if the server does not know the field. */
  private async select<T>(send: (resource: Resource) => Promise<T>): Promise<T> {
    const { fieldSelector, ...unselected } = this.resource;
    if (fieldSelector === undefined || !this.selects) return send(unselected);
    try {
      return await send(this.resource);
    } catch (error) {
      if (!this.isFieldUnknown(error)) throw error;
      this.selects = false;
      this.logger[this.reported ? 'debug' : 'info'](
        { error: error.message },
        'the API server does not know this field selector; selecting objects here',
      );
      this.reported = true;
      return send(unselected);
    }
  }

  private isFieldUnknown(error: unknown): error is ApiError {
    const { selectedField } = this.resource;
    if (selectedField === undefined || !(error instanceof ApiError)) return false;
    return error.code === BAD_REQUEST && error.detail.includes(selectedField);
  }

  private async streamOrPages(resource: Resource, options: ListOptions): Promise<Listed> {
    if (this.streams) {
      try {
        return await streamList(this.client, resource, options, new Replacement(this.known, this.logger));
      } catch (error) {
        this.judge(error);
      }
    }
    const replacement = new Replacement(this.known, this.logger);
    return { version: await requestPages(this.client, resource, options, replacement) };
  }

  /** Throws the error unless pages may do better: they can leave out a single object. */
  private judge(error: unknown): void {
    const refused = error instanceof ApiError && error.code === INVALID;
    if (!refused && !(error instanceof ApiProtocolError) && !(error instanceof ApiSilenceError)) throw error;
    if (refused) this.streams = false;
    this.logger.debug({ error: error.message }, 'the API server does not stream this list; listing in pages');
  }
}
