import type { OwnAttempts } from '../../domain/failover/port-failover.js';
import type { ForwardingEntry } from '../../domain/forwarding/forwarding-entry.js';
import { endpointPlace } from '../../domain/model/endpoint.js';
import { getOrMake } from '../../domain/model/get-or-make.js';
import { familyPortKey, type FamilyPortKey } from '../../domain/traffic/service-frontends.js';
import type { Clock } from '../ports/clock.js';
import type { AttemptOutcome, EndpointConnector } from '../ports/node/endpoint-connector.js';

/** As long as a connection of a client may wait, in milliseconds. */
const ANSWER_TIME = 1_000;
/** Of all service ports. Others wait for the next look. */
const MOST_AT_ONCE = 16;

/**
 * This node's own attempts to connect to endpoints that may be silent. Connections of clients may be forged, or dropped on their way for
 * a reason of the client's; these are neither.
 */
export class OwnConnects {
  private readonly byPort = new Map<FamilyPortKey, Map<string, OwnAttempts>>();
  private readonly running = new Set<string>();

  /** @param ended called after each attempt */
  constructor(
    private readonly connector: EndpointConnector,
    private readonly clock: Clock,
    private readonly ended: () => void,
  ) {}

  of(port: FamilyPortKey, place: string): OwnAttempts | undefined {
    return this.byPort.get(port)?.get(place);
  }

  forget(port: FamilyPortKey): void {
    this.byPort.delete(port);
  }

  /** Tries an endpoint, unless that is under way or too many others are. */
  async begin(entry: ForwardingEntry, place: string): Promise<void> {
    const port = familyPortKey(entry);
    const id = `${port} ${place}`;
    const endpoint = entry.endpoints.reachable.find((one) => endpointPlace(one) === place);
    if (!endpoint || this.running.has(id) || this.running.size >= MOST_AT_ONCE) return;
    this.running.add(id);
    const begun = this.clock.steady();
    const places = getOrMake(this.byPort, port, () => new Map<string, OwnAttempts>());
    // There is no other client of SCTP here.
    const outcome: AttemptOutcome =
      entry.name.protocol === 'TCP' ? await this.connector.attempt(endpoint, ANSWER_TIME) : 'impossible';
    this.running.delete(id);
    places.set(place, { ...places.get(place), [outcome]: begun });
    this.ended();
  }
}
