import { StandInApiServer } from '../../test/support/api-server/api-server.js';
import { writeKubeconfig } from '../../test/support/api-server/kubeconfig.js';
import type { ApiObject } from '../../test/support/api-server/object-store.js';
import type { Bytes } from '../../test/support/api-server/traffic.js';
import { endpointSlice, node, service, serviceCidr } from '../cluster.js';
import { stored } from '../stored.js';
import { Seats } from './seats.js';

interface Totals extends Bytes {
  readonly handshakes: { readonly full: number; readonly resumed: number };
  /** Processor time. Milliseconds. */
  readonly processor: number;
}

/** What an API server did since the last `mark`. */
export interface ServerWork extends Totals {
  /** When each request came, counted from the mark. Milliseconds. */
  readonly requests: readonly number[];
  /** How many of them were answered with 429. */
  readonly refused: number;
}

/** A stand-in API server with a synthetic cluster, which counts what it does. Of a process of its own. */
export class FleetServer {
  private marked: Totals;
  private markedAt = Date.now();

  private constructor(
    private readonly api: StandInApiServer,
    private readonly endpoints: number,
  ) {
    this.marked = this.total();
  }

  static async start(services: number, endpoints: number): Promise<FleetServer> {
    const api = await StandInApiServer.start();
    const objects = [node(), serviceCidr()];
    for (let index = 0; index < services; index++)
      objects.push(service(index), endpointSlice(index, endpoints));
    for (const object of objects) api.put(stored(object) as ApiObject);
    api.compact();
    return new FleetServer(api, endpoints);
  }

  /** Path of a kubeconfig for it. */
  kubeconfig(): Promise<string> {
    return writeKubeconfig(this.api);
  }

  /** Counts from now on. */
  mark(): void {
    this.api.requests.length = 0;
    this.marked = this.total();
    this.markedAt = Date.now();
  }

  work(): ServerWork {
    const { sent, received, handshakes, processor } = this.total();
    const { requests } = this.api;
    return {
      requests: requests.map(({ at }) => at - this.markedAt),
      refused: requests.filter(({ status }) => status === 429).length,
      sent: sent - this.marked.sent,
      received: received - this.marked.received,
      handshakes: {
        full: handshakes.full - this.marked.handshakes.full,
        resumed: handshakes.resumed - this.marked.handshakes.resumed,
      },
      processor: processor - this.marked.processor,
    };
  }

  /** Replaces one endpoint of a service. Returns the new resourceVersion. */
  change(index: number, generation: number): string {
    const object = stored(endpointSlice(index, this.endpoints, generation)) as ApiObject;
    return this.api.put(object).metadata.resourceVersion!;
  }

  /** Stops listening and cuts all connections. */
  close(): Promise<void> {
    return this.api.close();
  }

  open(): Promise<void> {
    return this.api.open();
  }

  /** Ends all watches as a server does that shuts down. */
  endWatches(): void {
    this.api.endWatches();
  }

  /** Forgets its history, as a server does that restarts: watches from earlier versions are too old. */
  forget(): void {
    this.api.store.bump();
    this.api.compact();
  }

  /** Runs so many lists at once, each for this time in milliseconds, and refuses the others; without seats there is no limit. */
  limit(seats?: number, hold = 0): void {
    const limited = seats === undefined ? undefined : new Seats(seats, hold);
    this.api.faults.admission = limited && ((url) => limited.refuse(url));
  }

  private total(): Totals {
    const { user, system } = process.cpuUsage();
    const { bytes, handshakes } = this.api.traffic;
    return { ...bytes, handshakes: { ...handshakes }, processor: (user + system) / 1000 };
  }
}
