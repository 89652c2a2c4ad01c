import { existsSync } from 'node:fs';
import { type IpSetHeader, type IpSetType, addLine, createLine } from '../../domain/ipvs/ip-set.js';
import { protocolText, PROTOCOL_NUMBERS, type Protocol } from '../../domain/model/service-port-name.js';
import { reportsTemporary, EINVAL, ENOENT } from '../netlink/errors.js';
import type { MessageWriter } from '../netlink/message-writer.js';
import { NetlinkChannel } from '../netlink/netlink-channel.js';
import { NetlinkSocket } from '../netlink/netlink-socket.js';
import { NETLINK_NETFILTER } from '../netlink/protocol.js';
import {
  ToolFailedError,
  ToolMissingError,
  ToolPermissionError,
  type ToolError,
  ToolPrograms,
  type ToolOutcome,
} from '../tool-programs.js';
import {
  IpSetRejectedError,
  IpSetUnsupportedError,
  type IpSetOutcome,
  type IpSets,
  type IpSetStep,
  type ReadIpSets,
} from './ip-sets.js';

export interface IpSetToolOptions {
  /** Comes before every command: `['ip', 'netns', 'exec', 'NAME']`. */
  readonly launcher?: readonly string[];
  /** A run that takes longer is killed. */
  readonly timeoutMilliseconds?: number;
  /** Whether one of the sets exists. Asked when the tool is missing. */
  readonly lookInKernel?: (names: ReadonlySet<string>) => Promise<boolean>;
}

const NOT_PERMITTED = /Operation not permitted|Permission denied/;
const NO_KERNEL_SUPPORT = /Cannot open session to kernel|Kernel support protocol versions/;
const PROGRAM = /^ipset v[\d.]+: /;
const FAILED_LINE = /^Error in line (\d+): /;

/** The tool is started this often for one list of steps: it stops at each that is refused. */
const MOST_RUNS = 100;

/** The set takes no more members. */
const FULL = /is full/;

/** IP sets through the tool `ipset`, in the network namespace of this process. */
export class IpSetTool implements IpSets {
  private readonly programs: ToolPrograms;
  private readonly lookInKernel: (names: ReadonlySet<string>) => Promise<boolean>;

  constructor({
    launcher = [],
    timeoutMilliseconds = 60_000,
    lookInKernel = hasIpSet,
  }: IpSetToolOptions = {}) {
    this.programs = new ToolPrograms({ from: 'ipset (6.0 or later)', launcher, timeoutMilliseconds });
    this.lookInKernel = lookInKernel;
  }

  /** The version of the tool, as `7.17`; undefined when it prints none. @throws ToolMissingError */
  async version(): Promise<string | undefined> {
    const { stdout } = await this.run(['--version']);
    return /\bv(\d+\.\d+)/.exec(stdout)?.[1];
  }

  /** Rejects with ToolMissingError only when some of the sets may exist. */
  async read(names: ReadonlySet<string>, signal?: AbortSignal): Promise<ReadIpSets> {
    try {
      const { exitCode, stdout, stderr } = await this.run(['save'], undefined, signal);
      if (exitCode !== 0) throw failure('ipset save', stderr, exitCode);
      return parseSave(stdout, names);
    } catch (error) {
      if (error instanceof ToolMissingError && !(await this.mayExist(names)))
        return { sets: [], foreign: [] };
      throw error;
    }
  }

  async restore(steps: readonly IpSetStep[]): Promise<readonly IpSetOutcome[]> {
    const outcomes: IpSetOutcome[] = Array.from({ length: steps.length });
    const groups: (readonly number[])[] = [steps.map((_, position) => position)];
    for (let runs = 0; ; runs++) {
      const group = groups.pop();
      if (!group) return outcomes;
      if (runs < MOST_RUNS) groups.push(...(await this.restoreThese(steps, group, outcomes)));
      else for (const position of group) outcomes[position] = notTried(steps[position]!);
    }
  }

  close(): void {
    this.programs.close();
  }

  private async mayExist(names: ReadonlySet<string>): Promise<boolean> {
    try {
      return await this.lookInKernel(names);
    } catch {
      return true;
    }
  }

  /**
   * Takes the steps at these positions. The tool stops at the first refused one, and may not have taken all before it, so these
   * are repeated with the rest. When it does not name the refused one, each half is tried on its own.
   * @returns the positions to try next, each list on its own
   */
  private async restoreThese(
    steps: readonly IpSetStep[],
    positions: readonly number[],
    outcomes: IpSetOutcome[],
  ): Promise<(readonly number[])[]> {
    if (positions.length === 0) return [];
    const lines = positions.map((position) => restoreLine(steps[position]!));
    const { exitCode, stderr } = await this.run(['-exist', 'restore'], lines);
    if (exitCode === 0) return [];
    const message = stderr.trim().replace(PROGRAM, '');
    if (NO_KERNEL_SUPPORT.test(message) || reportsTemporary(message))
      throw failure('ipset restore', stderr, exitCode);
    const line = positions.length === 1 ? 1 : Number(FAILED_LINE.exec(message)?.[1] ?? 0);
    if (line < 1 || line > positions.length) {
      const middle = positions.length >> 1;
      return [positions.slice(middle), positions.slice(0, middle)];
    }
    const reason = message.replace(FAILED_LINE, '');
    const refused = steps[positions[line - 1]!]!;
    const left = positions.filter((position, index) => {
      if (index < line - 1) return true;
      if (index > line - 1 && !(FULL.test(reason) && addsToSameSet(steps[position]!, refused))) return true;
      outcomes[position] = new IpSetRejectedError(lines[index]!, reason);
      return false;
    });
    return [left];
  }

  private run(
    parameters: readonly string[],
    lines?: readonly string[],
    signal?: AbortSignal,
  ): Promise<ToolOutcome> {
    const input = lines && [`${lines.join('\n')}\n`];
    return this.programs.run(['ipset', ...parameters], { ...(input && { input }), stdout: 'all' }, signal);
  }
}

function addsToSameSet(step: IpSetStep, other: IpSetStep): boolean {
  return step.kind === 'add' && other.kind === 'add' && step.set === other.set;
}

function failure(attempt: string, stderr: string, exitCode: number): ToolError {
  const message = stderr.trim().replace(PROGRAM, '');
  if (NOT_PERMITTED.test(message)) return new ToolPermissionError(attempt, message.split('\n')[0]!);
  if (NO_KERNEL_SUPPORT.test(message)) return new IpSetUnsupportedError(attempt, message);
  return new ToolFailedError(attempt, message || `exit status ${exitCode}`);
}

function notTried(step: IpSetStep): IpSetRejectedError {
  return new IpSetRejectedError(restoreLine(step), `not tried yet after ${MOST_RUNS} rejected runs`);
}

/** Numbers of linux/netfilter/ipset/ip_set.h. */
const NFNL_SUBSYS_IPSET = 6 << 8;
const IPSET_CMD_HEADER = NFNL_SUBSYS_IPSET | 12;
const ATTRIBUTE = { PROTOCOL: 1, SET_NAME: 2 } as const;

/** Spoken by every kernel since 2.6.39. */
const PROTOCOL = 6;

/** struct nfgenmsg as a word; sets of all families share their names. */
const ANY_FAMILY = 0;

/**
 * Whether this network namespace has an IP set of one of the names, found out without the tool ipset.
 * @throws NetlinkError when the kernel does not answer
 */
function hasIpSet(names: Iterable<string>): Promise<boolean> {
  const openSocket = () => NetlinkSocket.open(NETLINK_NETFILTER);
  return NetlinkChannel.during(openSocket, async (channel) => {
    for (const name of names) {
      const request = {
        type: IPSET_CMD_HEADER,
        attempt: `looking for the IP set ${name}`,
        put: (writer: MessageWriter) => {
          writer.putWord(ANY_FAMILY);
          writer.putU8(ATTRIBUTE.PROTOCOL, PROTOCOL);
          writer.putText(ATTRIBUTE.SET_NAME, name);
        },
      };
      // EINVAL: the kernel has no IP sets at all.
      if (await channel.find(request, [ENOENT, EINVAL], () => true)) return true;
    }
    return false;
  });
}

/** Whether the kernel may have IP sets: not without their module. Where /sys cannot be read, it may. */
export function mayHaveIpSets(sys = '/sys'): boolean {
  return existsSync(`${sys}/module/ip_set`) || !existsSync(`${sys}/module`);
}

const TYPES: ReadonlySet<string> = new Set<IpSetType>([
  'hash:ip',
  'hash:ip,port',
  'hash:ip,port,ip',
  'hash:ip,port,net',
  'bitmap:port',
]);

/** Options of every hash whose values change by themselves or do not matter. */
const UNIMPORTANT = /^(?:hashsize|bucketsize|initval)$/;

/** Parses the output of `ipset save`, of which only the named sets count. */
export function parseSave(saved: string, names: ReadonlySet<string>): ReadIpSets {
  const sets = new Map<string, IpSetHeader & { readonly members: Set<string> }>();
  const foreign: { name: string; description: string }[] = [];
  for (const line of saved.split('\n')) {
    const [command, name, first, ...rest] = line.split(' ');
    if (name === undefined || first === undefined || !names.has(name)) continue;
    if (command === 'add') sets.get(name)?.members.add(named(first));
    else if (command === 'create') {
      const header = headerOf(name, first, rest);
      if (header) sets.set(name, { ...header, members: new Set() });
      else foreign.push({ name, description: [first, ...rest].join(' ') });
    }
  }
  return { sets: [...sets.values()], foreign };
}

/** The header of a set of our types and options; undefined for any other. */
function headerOf(name: string, type: string, words: readonly string[]): IpSetHeader | undefined {
  if (!TYPES.has(type)) return undefined;
  let family: IpSetHeader['family'] = 'IPv4';
  for (let at = 0; at < words.length; at += 2) {
    const option = words[at]!;
    const value = words[at + 1] ?? '';
    if (option === 'family' && (value === 'inet' || value === 'inet6'))
      family = value === 'inet' ? 'IPv4' : 'IPv6';
    else if (!(option === 'maxelem' && value === '65536') && !(option === 'range' && value === '0-65535'))
      if (!UNIMPORTANT.test(option)) return undefined;
  }
  return { name, type: type as IpSetType, family };
}

/** Replaces a protocol's number, which the tool prints for an unknown name. */
function named(member: string): string {
  return member.replace(/,(6|17|132):/, (_, number: string) => `,${protocolText(Number(number))}:`);
}

/** The line of `ipset restore` for a step. */
function restoreLine(step: IpSetStep): string {
  switch (step.kind) {
    case 'create':
      return createLine(step.set);
    case 'add':
      return addLine(step.set, numbered(step.member));
    case 'delete':
      return `del ${step.set} ${numbered(step.member)}`;
    case 'destroy':
      return `destroy ${step.set}`;
  }
}

/** Protocols by their numbers: the tool has names only with an /etc/protocols. */
function numbered(member: string): string {
  return member.replace(
    /,(tcp|udp|sctp):/,
    (_, name: string) => `,${PROTOCOL_NUMBERS[name.toUpperCase() as Protocol]}:`,
  );
}
