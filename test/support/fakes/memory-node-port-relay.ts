import type {
  NodePortRelay,
  OpenNodePort,
  RelayTarget,
} from '../../../src/application/ports/node/endpoint-connections.js';
import { endpointPlace } from '../../../src/domain/model/endpoint.js';
import type { IpFamily } from '../../../src/domain/net/ip-family.js';

/** Node ports without sockets. A port can be open once, unless it is busy; each call takes a turn. */
export class MemoryNodePortRelay implements NodePortRelay {
  /** Ports that another program holds. */
  readonly busy = new Set<number>();
  /** Every port that was opened or closed, in order: `+30080`, `-30080`. */
  readonly history: string[] = [];
  private readonly targets = new Map<number, RelayTarget>();

  async listen(_family: IpFamily, port: number, target: RelayTarget): Promise<OpenNodePort> {
    await Promise.resolve();
    if (this.busy.has(port) || this.targets.has(port)) throw new Error(`port ${port} is in use`);
    if (target.endpoints.length === 0) throw new Error('nothing to lead to');
    this.history.push(`+${port}`);
    this.targets.set(port, target);
    return {
      serve: (now) => void this.targets.set(port, now),
      close: async () => {
        await Promise.resolve();
        this.history.push(`-${port}`);
        this.targets.delete(port);
      },
    };
  }

  /** Where each open port leads, and for how many seconds a client stays: `30080 > 10.1.1.1:80 10.1.1.2:80 (60 s)`. */
  get open(): readonly string[] {
    return [...this.targets]
      .sort(([one], [other]) => one - other)
      .map(([port, { endpoints, affinitySeconds }]) => {
        const places = endpoints.map(endpointPlace).join(' ');
        return `${port} > ${places}${affinitySeconds > 0 ? ` (${affinitySeconds} s)` : ''}`;
      });
  }
}
