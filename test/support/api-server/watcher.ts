import type { ServerResponse } from 'node:http';
import type { Answer } from './answer.js';
import type { Faults } from './faults.js';
import type { ApiObject, Change } from './object-store.js';
import { apiVersionOf, listKindOf } from './resource-path.js';
import type { Selector } from './selectors.js';
import type { WatchCache } from './watch-cache.js';

export interface WatchRequest {
  readonly collection: string;
  readonly namespace?: string;
  readonly selector: Selector;
  readonly from: number;
  readonly bookmarks: boolean;
  readonly seconds: number;
  /** The object as the server's release has it. */
  readonly view: (object: ApiObject) => ApiObject;
}

/** One open watch: the history since its version, then every change, as chunks of one line each, until its time is over. */
export class Watcher {
  /** Sends nothing and does not end, as over a connection that died without a word. */
  hanging = false;
  /** When it has told of an object last, by `performance.now()`. */
  toldAt = -Infinity;
  private readonly unsubscribe: () => void;
  private readonly timer: NodeJS.Timeout;

  constructor(
    private readonly cache: WatchCache,
    readonly request: WatchRequest,
    private readonly response: ServerResponse,
    private readonly writer: Answer,
    private readonly faults: Faults,
    onClose: () => void,
  ) {
    for (const change of cache.since(request.from)) this.onChange(change);
    this.unsubscribe = cache.subscribe((change) => this.onChange(change));
    this.timer = setTimeout(() => this.end(), request.seconds * 1000);
    response.on('close', () => {
      clearTimeout(this.timer);
      this.unsubscribe();
      onClose();
    });
  }

  bookmark(resourceVersion: string, annotations?: Readonly<Record<string, string>>): void {
    if (!this.request.bookmarks || this.cache.version < this.request.from) return;
    const metadata = { resourceVersion, creationTimestamp: null, ...(annotations && { annotations }) };
    const kind = listKindOf(this.request.collection).replace(/List$/, '');
    this.send('BOOKMARK', { kind, apiVersion: apiVersionOf(this.request.collection), metadata });
  }

  send(type: string, object: object): void {
    if (type !== 'BOOKMARK') this.toldAt = performance.now();
    const tear = this.hanging || this.response.destroyed ? undefined : this.faults.tears.shift();
    if (tear === undefined) return this.sendRaw(this.writer.event(type, object));
    this.sendRaw(this.writer.tornEvent(type, object, tear === 'content'));
    if (tear === 'watch') this.end();
    // What was written before arrives, too.
    else if (tear === 'connection') this.response.socket?.destroySoon();
    this.hanging ||= tear !== 'content';
  }

  sendRaw(text: string | Buffer): void {
    if (!this.hanging && !this.response.writableEnded) this.response.write(text);
  }

  /** Ends as agreed. */
  end(): void {
    if (!this.hanging) this.response.end();
  }

  /** Ends by cutting the connection. */
  cut(): void {
    this.response.destroy();
  }

  /** An object that begins or ceases to match the selector comes as an addition or a removal. */
  private onChange({ version, collection, before, after, removed }: Change): void {
    const { namespace, selector, from, view } = this.request;
    // A watch may begin with a version that is yet to come.
    if (collection !== this.request.collection || version <= from) return;
    if (namespace !== undefined && after.metadata.namespace !== namespace) return;
    const matches = (object?: ApiObject): boolean => object !== undefined && selector(object);
    const was = matches(before);
    const is = !removed && matches(after);
    if (was && is) this.send('MODIFIED', view(after));
    else if (is) this.send('ADDED', view(after));
    else if (was) this.send('DELETED', view({ ...before!, metadata: after.metadata }));
  }
}
