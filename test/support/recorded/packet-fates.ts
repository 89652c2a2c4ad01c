import { hostPort } from '../../../src/domain/net/address.js';
import type { Walk } from '../../../src/diagnostics/domain/walk/desired-walk.js';
import type { IpFamily } from '../../../src/domain/net/ip-family.js';
import type { Packet, PacketEnvironment, PacketPath } from '../../../src/diagnostics/domain/trace/trace.js';
import { localAddresses, ownAddressTowards } from '../testbed/network.js';
import { clients } from './walk-testbed.js';
import { planOf, type Family, type Target } from '../testbed/probe-plan.js';
import type { Verdict, Verdicts } from '../testbed/probe.js';
import { parseVerdicts } from './scenarios.js';
import { recordedText, type IptablesUser, type RecordedStep } from './cluster.js';

/** The host on which the scenarios were recorded, which is the node of the test bed too. */
const ENVIRONMENT: PacketEnvironment = { localAddresses };

/** What all packets of a recorded step met, by `TARGET from CLIENT`; a family without services was not recorded. */
export function recordedFates(step: RecordedStep, family: IpFamily, mode: IptablesUser): Verdicts {
  const file = family === 'IPv4' ? 'packets' : 'packets6';
  try {
    return parseVerdicts(recordedText(step, mode, file, 'json'));
  } catch (error) {
    if (family === 'IPv6' && (error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw error;
  }
}

/**
 * The fates of the same packets in rules that are walked through.
 * @param objects the whole state of the cluster
 * @param keys which packets: `TARGET from CLIENT`
 * @param bound service addresses that the node has: it sends packets to them with the same address
 */
export async function walkedFates(
  objects: string,
  family: IpFamily,
  keys: readonly string[],
  rules: Walk,
  bound: ReadonlySet<string> = new Set(),
): Promise<Verdicts> {
  const plan = planOf(objects, family === 'IPv4' ? 'ipv4' : 'ipv6');
  const targets = new Map(plan.map((target) => [target.label, target]));
  const fates: Record<string, Verdict> = {};
  for (const key of keys) {
    const [label, client] = key.split(' from ') as [string, string];
    const packet = packetOf(targets.get(label)!, client, family, bound);
    const endings = await rules.walk(packet, ENVIRONMENT);
    expectCertain(endings);
    fates[key] = fateOf(endings, packet);
  }
  return fates;
}

function packetOf(target: Target, client: string, family: IpFamily, bound: ReadonlySet<string>): Packet {
  const { inputInterface, source } = clients[client]!;
  const key: Family = family === 'IPv4' ? 'ipv4' : 'ipv6';
  const own = bound.has(target.dst) ? target.dst : ownAddressTowards(target.dst);
  return {
    family,
    inputInterface,
    source: source[key] ?? own,
    destination: target.dst,
    protocol: target.proto === 'tcp' ? 'TCP' : 'UDP',
    destinationPort: target.port,
  };
}

/** Nothing in these rules is hard to understand, and every packet ends somewhere. */
function expectCertain(endings: readonly PacketPath[]): void {
  const uncertain = endings.flatMap(({ steps }) => steps.filter(({ uncertain: isUncertain }) => isUncertain));
  if (uncertain.length > 0) expect(uncertain).toEqual([]);
  const sum = endings.reduce((total, { probability }) => total + probability, 0);
  if (sum !== 1) expect(sum).toBeCloseTo(1, 6);
}

/** What a probe sees of these endings: that a source was rewritten shows only where the address is another one. */
function fateOf(endings: readonly PacketPath[], packet: Packet): Verdict {
  const verdicts = new Set(endings.map(({ verdict }) => verdict));
  if (verdicts.size !== 1) throw new Error(`packets meet different fates: ${JSON.stringify(endings)}`);
  const { verdict, sticky } = endings[0]!;
  // Nothing listens on the node, so it refuses the connection.
  if (verdict === 'untouched') return localAddresses.has(packet.destination) ? 'reject' : 'untouched';
  if (verdict !== 'forward') return verdict;
  const rewritten = new Set(
    endings.map(
      ({ endpoint, masquerade }) => masquerade && ownAddressTowards(endpoint!.address) !== packet.source,
    ),
  );
  const masq = rewritten.size === 1 ? [...rewritten][0]! : 'mixed';
  if (sticky) return { ...(packet.inputInterface === undefined ? {} : { masq }), sticky };
  const to = new Set(endings.map(({ endpoint }) => hostPort(endpoint!.address, endpoint!.port)));
  return { to: [...to].sort(), masq };
}
