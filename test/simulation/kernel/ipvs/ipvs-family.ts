import type { GenericFamily } from '../generic.js';
import { GENERIC_HEADER } from '../generic.js';
import type { KernelSocket } from '../netlink-protocol.js';
import { attributesIn, type Attributes } from '../netlink/attributes.js';
import { dump } from '../netlink/dump.js';
import type { MessageBuilder } from '../netlink/message-builder.js';
import { EEXIST, EINVAL, EOPNOTSUPP, ESRCH } from '../netlink/numbers.js';
import { Refusals } from '../netlink/refusals.js';
import { asksForAll, outcomeOf, refuse, type Outcome, type Request } from '../netlink/requests.js';
import { tell } from '../netlink/tell.js';
import { CMD_ATTR, COMMAND, INFO_ATTR, IPVS_VERSION, MAX_CMD_ATTR, TABLE_SIZE, TUNNEL } from './ip-vs.js';
import {
  putDestination,
  putServer,
  readDestinationId,
  readDestinationSettings,
  readServerId,
  readServerSettings,
} from './server-attributes.js';
import type { ServerId } from './virtual-server.js';
import type { VirtualServers } from './virtual-servers.js';

const VERSION = 1;
const QUESTIONS: ReadonlySet<number> = new Set([
  COMMAND.GET_SERVICE,
  COMMAND.GET_DEST,
  COMMAND.GET_CONFIG,
  COMMAND.GET_INFO,
]);
const KNOWN: ReadonlySet<number> = new Set(Object.values(COMMAND));

/** The family IPVS of generic netlink. */
export class IpvsFamily implements GenericFamily {
  readonly name = 'IPVS';
  readonly version = VERSION;
  readonly maxAttribute = MAX_CMD_ATTR;
  private readonly changes = new Refusals();
  private readonly questions = new Refusals();
  /** Told of each request that was to change something. */
  onWrite: (isTaken: boolean) => void = () => {};

  constructor(private readonly servers: VirtualServers) {}

  /** The next requests that change something are refused. */
  refuseNext(errno: number, count = 1): void {
    this.changes.add(errno, count);
  }

  /** The next questions and listings are refused. */
  refuseQuestions(errno: number, count = 1): void {
    this.questions.add(errno, count);
  }

  /** Nothing is refused any more without a reason. */
  endTrouble(): void {
    this.changes.clear();
    this.questions.clear();
  }

  isRestricted(): boolean {
    return true;
  }

  answer(socket: KernelSocket, request: Request, command: number): Outcome {
    const attributes = attributesIn(request.payload.subarray(GENERIC_HEADER));
    if (!attributes) return refuse(EINVAL);
    const isQuestion = QUESTIONS.has(command);
    if (!KNOWN.has(command) || command === COMMAND.SET_INFO) return refuse(EOPNOTSUPP);
    if (!isQuestion && !asksForAll(request)) return this.write(socket.process, command, attributes);
    const refusal = (isQuestion ? this.questions : this.changes).next();
    if (refusal) return refusal;
    if (asksForAll(request)) return this.list(socket, request, command, attributes);
    return this.tell(socket, request, command, attributes);
  }

  private write(process: number, command: number, attributes: Attributes): Outcome {
    const outcome = this.changes.next() ?? this.change(process, command, attributes);
    this.onWrite(outcome === undefined);
    return outcome;
  }

  private list(socket: KernelSocket, request: Request, command: number, attributes: Attributes): Outcome {
    const { type } = request;
    if (command === COMMAND.GET_SERVICE) {
      // The kernel goes on by number: what moves meanwhile is missed, or listed twice.
      const next = nth(this.servers, () => this.servers.view());
      return dump(socket, request, {
        ...{ next, type },
        put: (builder, server) => putServer(builder.raw(header(COMMAND.NEW_SERVICE)), server),
      });
    }
    if (command !== COMMAND.GET_DEST) return refuse(EOPNOTSUPP);
    const id = readServerId(attributes);
    const next = nth(this.servers, () => ('errno' in id ? undefined : this.servers.find(id)?.destinations));
    return dump(socket, request, {
      ...{ next, type },
      put: (builder, destination) => putDestination(builder.raw(header(COMMAND.NEW_DEST)), destination),
    });
  }

  private tell(socket: KernelSocket, request: Request, command: number, attributes: Attributes): Outcome {
    const reply = (answer: number, put: (builder: MessageBuilder) => void): void =>
      tell(socket, request, request.type, (builder) => put(builder.raw(header(answer))));
    switch (command) {
      case COMMAND.GET_SERVICE: {
        const id = readServerId(attributes);
        if ('errno' in id) return id;
        const server = this.servers.find(id);
        if (!server) return refuse(ESRCH);
        reply(COMMAND.NEW_SERVICE, (builder) => putServer(builder, server));
        return undefined;
      }
      case COMMAND.GET_CONFIG: {
        const { tcp, tcpFin, udp } = this.servers.timeouts;
        reply(COMMAND.SET_CONFIG, (builder) => {
          builder.u32(CMD_ATTR.TIMEOUT_TCP, tcp).u32(CMD_ATTR.TIMEOUT_TCP_FIN, tcpFin);
          builder.u32(CMD_ATTR.TIMEOUT_UDP, udp);
        });
        return undefined;
      }
      case COMMAND.GET_INFO:
        reply(COMMAND.SET_INFO, (builder) => {
          builder.u32(INFO_ATTR.VERSION, IPVS_VERSION).u32(INFO_ATTR.CONN_TAB_SIZE, TABLE_SIZE);
        });
        return undefined;
      default:
        return refuse(EOPNOTSUPP);
    }
  }

  private change(process: number, command: number, attributes: Attributes): Outcome {
    const { servers } = this;
    if (command === COMMAND.FLUSH) return outcomeOf(servers.flush(process));
    if (command === COMMAND.SET_CONFIG)
      return outcomeOf(servers.setTimeouts(timeoutsIn(attributes), process));
    if (command === COMMAND.ZERO && !attributes.has(CMD_ATTR.SERVICE)) return undefined;
    const id = readServerId(attributes);
    if ('errno' in id) return id;
    if (command === COMMAND.NEW_SERVICE || command === COMMAND.SET_SERVICE)
      return this.changeServer(process, command, attributes, id);
    if (!servers.find(id)) return refuse(ESRCH);
    if (command === COMMAND.DEL_SERVICE) return outcomeOf(servers.delete(id, process));
    if (command === COMMAND.ZERO) return undefined;
    return this.changeDestination(process, command, attributes, id);
  }

  private changeServer(process: number, command: number, attributes: Attributes, id: ServerId): Outcome {
    const { servers } = this;
    const server = servers.find(id);
    const settings = readServerSettings(attributes, server?.flags ?? 0);
    if ('errno' in settings) return settings;
    if (command === COMMAND.SET_SERVICE) return outcomeOf(servers.set(id, settings, process));
    return server ? refuse(EEXIST) : outcomeOf(servers.add(id, settings, process));
  }

  private changeDestination(
    process: number,
    command: number,
    attributes: Attributes,
    server: ServerId,
  ): Outcome {
    const { servers } = this;
    const id = readDestinationId(attributes, server);
    if ('errno' in id) return id;
    if (command === COMMAND.DEL_DEST) return outcomeOf(servers.deleteDestination(server, id, process));
    const settings = readDestinationSettings(attributes);
    if ('errno' in settings) return settings;
    if (id.family !== server.family && settings.forwarding !== TUNNEL) return refuse(EINVAL);
    const destination = { ...id, ...settings };
    return outcomeOf(
      command === COMMAND.NEW_DEST
        ? servers.addDestination(server, destination, process)
        : servers.setDestination(server, destination, process),
    );
  }
}

/** struct genlmsghdr */
function header(command: number): Buffer {
  return Buffer.of(command, VERSION, 0, 0);
}

/** One after the other by their places in what there is at the time. */
function nth<T>(servers: VirtualServers, all: () => ReadonlyMap<string, T> | undefined): () => T | undefined {
  let given = 0;
  let version = -1;
  let values: readonly T[] = [];
  return () => {
    if (servers.version !== version) [values, version] = [[...(all()?.values() ?? [])], servers.version];
    return values[given++];
  };
}

function timeoutsIn(attributes: Attributes): { tcp: number; tcpFin: number; udp: number } {
  const seconds = (type: number): number => attributes.get(type)?.readUInt32LE(0) ?? 0;
  return {
    tcp: seconds(CMD_ATTR.TIMEOUT_TCP),
    tcpFin: seconds(CMD_ATTR.TIMEOUT_TCP_FIN),
    udp: seconds(CMD_ATTR.TIMEOUT_UDP),
  };
}
