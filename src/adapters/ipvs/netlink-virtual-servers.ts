import {
  virtualServerKey,
  type CountedRealServer,
  type VirtualServer,
  type VirtualServerId,
} from '../../domain/ipvs/virtual-server.js';
import { hostPort } from '../../domain/net/address.js';
import { familyOf, type IpFamily } from '../../domain/net/ip-family.js';
import { EEXIST, ENOENT, ESRCH, NetlinkRequestError } from '../netlink/errors.js';
import type { KernelReply, NetlinkMessage } from '../netlink/message-reader.js';
import type { MessageWriter } from '../netlink/message-writer.js';
import { NetlinkChannel, succeeded, type NetlinkRequest } from '../netlink/netlink-channel.js';
import { NetlinkSocket } from '../netlink/netlink-socket.js';
import { NETLINK_GENERIC } from '../netlink/protocol.js';
import {
  findGenericFamily,
  genericHeader,
  ATTRIBUTE,
  COMMAND,
  FAMILY_NAME,
  VERSION,
  readRealServer,
  readServer,
  putRealServer,
  putServer,
  putServerId,
} from './ip-vs.js';
import {
  IpvsUnavailableError,
  type IpvsTimeouts,
  type ListedVirtualServer,
  type StepOutcome,
  type VirtualServers,
  type VirtualServerStep,
} from './ipvs-kernel.js';

/** Where a scheduler is tried: an address that is in no use, and ports of which one is free (docs/internals/spec/ipvs.md §1). */
const PROBE_ADDRESS = '198.51.100.0';
const PROBE_PORTS = [20000, 20001, 20002, 20003];

/** Names of schedulers. The kernel's `none` schedules nothing. */
const SCHEDULER = /^(?!none$)[a-z0-9_-]{1,15}$/;

/** IPVS over generic netlink, in the network namespace of this process. */
export class NetlinkVirtualServers implements VirtualServers {
  private readonly channel: NetlinkChannel;
  private family: number | undefined;

  constructor(openSocket = () => NetlinkSocket.open(NETLINK_GENERIC)) {
    this.channel = new NetlinkChannel(openSocket);
  }

  async list(family: IpFamily, signal?: AbortSignal): Promise<readonly ListedVirtualServer[]> {
    const attempt = 'listing the virtual servers';
    const request = await this.request(COMMAND.GET_SERVICE, attempt, () => undefined);
    const read = (message: NetlinkMessage): VirtualServer | undefined => {
      signal?.throwIfAborted();
      const server = readServer(message);
      return server && familyOf(server.address) === family ? server : undefined;
    };
    const servers = await this.channel.list(request, read).catch((error: unknown) => {
      // The module was unloaded. When it is loaded again, it has another number.
      if (error instanceof NetlinkRequestError && error.errno === ENOENT) this.family = undefined;
      throw error;
    });
    const listed: ListedVirtualServer[] = [];
    for (const server of servers) {
      signal?.throwIfAborted();
      listed.push({ ...server, realServers: await this.realServers(server) });
    }
    return listed;
  }

  async find(id: VirtualServerId): Promise<ListedVirtualServer | undefined> {
    const attempt = `looking for the virtual server ${virtualServerKey(id)}`;
    const request = await this.request(COMMAND.GET_SERVICE, attempt, (writer) => putServerId(writer, id));
    const server = await this.channel.find(request, [ESRCH], readServer);
    return server && { ...server, realServers: await this.realServers(server) };
  }

  async realServers(server: VirtualServerId): Promise<readonly CountedRealServer[]> {
    const attempt = `listing the real servers of ${virtualServerKey(server)}`;
    const request = await this.request(COMMAND.GET_DEST, attempt, (writer) => putServerId(writer, server));
    return this.channel.list(request, (message) => readRealServer(message, familyOf(server.address)));
  }

  async apply(steps: readonly VirtualServerStep[]): Promise<readonly StepOutcome[]> {
    if (steps.length === 0) return [];
    const requests: NetlinkRequest[] = [];
    for (const step of steps) requests.push(await this.request(...requestOf(step)));
    const replies = await this.channel.perform(requests);
    return replies.map((reply, position) => outcomeOf(steps[position]!, requests[position]!.attempt, reply));
  }

  async hasScheduler(name: string): Promise<boolean> {
    if (!SCHEDULER.test(name)) return false;
    for (const port of PROBE_PORTS) {
      const server: VirtualServer = {
        ...{ address: PROBE_ADDRESS, protocol: 'TCP', port },
        ...{ scheduler: name, flags: 0, persistenceSeconds: 0 },
      };
      const attempt = `trying the scheduler ${name}`;
      const request = await this.request(COMMAND.NEW_SERVICE, attempt, (writer) => putServer(writer, server));
      const [reply] = await this.channel.perform([request]);
      if (reply!.errno === EEXIST) continue;
      if (!succeeded(request, reply!, [ENOENT])) return false;
      await this.apply([{ kind: 'delete', server }]);
      return true;
    }
    throw new NetlinkRequestError(`trying the scheduler ${name} at ${PROBE_ADDRESS}`, EEXIST);
  }

  async setTimeouts({ tcp, tcpFin, udp }: IpvsTimeouts): Promise<void> {
    const attempt = `setting the timeouts of IPVS to ${tcp}, ${tcpFin} and ${udp} s`;
    const request = await this.request(COMMAND.SET_CONFIG, attempt, (writer) => {
      writer.putHostU32(ATTRIBUTE.TIMEOUT_TCP, tcp);
      writer.putHostU32(ATTRIBUTE.TIMEOUT_TCP_FIN, tcpFin);
      writer.putHostU32(ATTRIBUTE.TIMEOUT_UDP, udp);
    });
    await this.channel.carryOut(request);
  }

  close(): void {
    void this.channel.close();
  }

  private async request(
    command: number,
    attempt: string,
    put: (writer: MessageWriter) => void,
  ): Promise<NetlinkRequest> {
    this.family ??= await findGenericFamily(this.channel, FAMILY_NAME);
    if (this.family === undefined) throw new IpvsUnavailableError();
    return {
      type: this.family,
      attempt,
      put: (writer) => {
        writer.putWord(genericHeader(command, VERSION));
        put(writer);
      },
    };
  }
}

/** The command of a step, and in words what is being done. */
const COMMANDS: Readonly<Record<VirtualServerStep['kind'], readonly [number, string]>> = {
  add: [COMMAND.NEW_SERVICE, 'adding'],
  set: [COMMAND.SET_SERVICE, 'changing'],
  delete: [COMMAND.DEL_SERVICE, 'deleting'],
  'add-real': [COMMAND.NEW_DEST, 'adding'],
  'set-real': [COMMAND.SET_DEST, 'changing'],
  'delete-real': [COMMAND.DEL_DEST, 'deleting'],
};

/** The command, the attempt in words, and the attributes of a step. */
function requestOf(step: VirtualServerStep): [number, string, (writer: MessageWriter) => void] {
  const [command, doing] = COMMANDS[step.kind];
  const name = virtualServerKey(step.server);
  const what =
    'real' in step
      ? `the real server ${hostPort(step.real.address, step.real.port)} of ${name}`
      : `the virtual server ${name}`;
  return [command, `${doing} ${what}`, (writer) => putStep(writer, step)];
}

function putStep(writer: MessageWriter, step: VirtualServerStep): void {
  if (step.kind === 'add' || step.kind === 'set') return putServer(writer, step.server);
  putServerId(writer, step.server);
  if (step.kind === 'delete-real') putRealServer(writer, step.real);
  else if ('real' in step) putRealServer(writer, step.real, step.real.weight);
}

function outcomeOf(
  step: VirtualServerStep,
  attempt: string,
  { errno, explanation }: KernelReply,
): StepOutcome {
  if (errno === 0) return undefined;
  return new NetlinkRequestError(attempt, errno, explanation ?? meaningOf(step, errno));
}

/** The meaning of an error, because IPVS gives no explanations. */
function meaningOf(step: VirtualServerStep, errno: number): string | undefined {
  const isServer = step.kind === 'add' || step.kind === 'set';
  if (errno === ENOENT && isServer) return `the kernel has no scheduler ${step.server.scheduler}`;
  if (errno === ENOENT) return 'there is no such real server';
  if (errno === ESRCH) return 'there is no such virtual server';
  if (errno === EEXIST) return 'it exists already';
  return undefined;
}
