import { hostPort, parseAddress } from '../../../src/domain/net/address.js';
import type { IpFamily } from '../../../src/domain/net/ip-family.js';
import { SERVICE_SETS, setHeader, setName } from '../../../src/domain/ipvs/service-sets.js';
import type { Protocol } from '../../../src/domain/model/service-port-name.js';
import type { VirtualServer } from '../../../src/domain/ipvs/virtual-server.js';
import { recordedText, type RecordedStep } from '../../support/recorded/cluster.js';
import type { MemoryNode } from './memory-node.js';

const SERVER = /^-A --?(\S+) \[?([^\]]+?)\]?:(\d+) -s (\w+)(?: -p (\d+))?$/;
const REAL = /^-a --?(\S+) \[?([^\]]+?)\]?:(\d+) -r \[?([^\]]+?)\]?:(\d+) -m -w (\d)$/;
const PROTOCOL: Readonly<Record<string, Protocol>> = { t: 'TCP', u: 'UDP', 'sctp-service': 'SCTP' };
const HEADERS = new Map(
  (['IPv4', 'IPv6'] as const).flatMap((family) =>
    SERVICE_SETS.map((set) => [setName(set, family), setHeader(set, family)] as const),
  ),
);

/** Leaves on the node what kube-proxy left; real servers with weight 0 have a connection. */
export function leaveBehind(node: MemoryNode, step: RecordedStep): void {
  for (const line of linesOf(step, 'ipvs')) leaveServer(node, line);
  for (const line of linesOf(step, 'ipset')) {
    const [verb, name, member] = line.split(' ') as [string, string, string];
    if (verb === 'create') node.sets.tamper({ kind: 'create', set: HEADERS.get(name)! });
    else node.sets.tamper({ kind: 'add', set: name, member });
  }
  const words = recordedText(step, 'ipvs', 'addresses').split(/\s+/);
  node.addresses.tamper(words.filter((word) => word.includes('/')).map((word) => word.split('/')[0]!));
  for (const family of ['IPv4', 'IPv6'] satisfies IpFamily[])
    node.iptables.tamper(family, recordedText(step, 'ipvs', family === 'IPv4' ? 'iptables' : 'ip6tables'));
}

function linesOf(step: RecordedStep, tool: string): readonly string[] {
  return recordedText(step, 'ipvs', tool)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

function leaveServer({ servers }: MemoryNode, line: string): void {
  const [, protocol, address, port, scheduler, seconds = '0'] = SERVER.exec(line) ?? [];
  if (address !== undefined) {
    const persistenceSeconds = Number(seconds);
    const flags = persistenceSeconds > 0 ? 1 : 0;
    const id = serverId(protocol!, address, port!);
    servers.tamper({ kind: 'add', server: { ...id, scheduler: scheduler!, flags, persistenceSeconds } });
    return;
  }
  const [, realProtocol, virtual, virtualPort, real, realPort, weight] = REAL.exec(line)!;
  const server = serverId(realProtocol!, virtual!, virtualPort!);
  const key = `${hostPort(virtual!, Number(virtualPort))}/${server.protocol}`;
  servers.tamper({
    kind: 'add-real',
    server,
    real: { address: parseAddress(real)!.text, port: Number(realPort), weight: Number(weight) },
  });
  if (weight === '0') servers.connect(key, hostPort(real!, Number(realPort)), 0, 1);
}

function serverId(
  protocol: string,
  address: string,
  port: string,
): Pick<VirtualServer, 'address' | 'protocol' | 'port'> {
  return {
    protocol: PROTOCOL[protocol]!,
    address: parseAddress(address)!.text,
    port: Number(port),
  };
}
