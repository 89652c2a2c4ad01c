import { compareSides } from '../../../../src/diagnostics/domain/compare/compare-sides.js';
import { ipvsSide, tablesSide } from '../../../../src/diagnostics/domain/compare/tables-side.js';
import {
  listedSide,
  parseListing,
  type Listing,
} from '../../../../src/diagnostics/adapters/nft-listing/listing.js';
import { hex } from '../../../../src/domain/nftables/kernel/bytes.js';
import { ruleText } from '../../../../src/domain/nftables/kernel/rule-text.js';
import { SavedRules } from '../../../../src/diagnostics/domain/iptables/saved-rules.js';
import type { SavedTables } from '../../../../src/domain/iptables/saved-tables.js';
import type { Side } from '../../../../src/diagnostics/domain/compare/side.js';
import type { IpSet } from '../../../../src/domain/ipvs/ip-set.js';
import { parseSave } from '../../../support/iptables/parse-save.js';
import { nightly } from '../../../support/nightly.js';
import { recordedDump, recordedText } from '../../../support/recorded/cluster.js';
import { recordedIpvs } from '../../../support/recorded/ipvs-dump.js';
import { recordedNode } from '../../../support/compare/recorded-sides.js';

const scenarios = [
  'clusterip-basic',
  'session-affinity',
  'loadbalancer-source-ranges',
  'nodeport-local-policy',
  'external-ips',
  'no-endpoints',
  'internal-local',
  'detect-local-bridge',
  'loadbalancer-local-healthcheck',
  'masquerade-all',
];
const chosen = nightly ? scenarios : scenarios.slice(1, 2);

/** Whether the comparison finds a difference, or says that it does not understand something. */
function isFound(one: Side, other: Side): boolean {
  for (const { result } of compareSides([one, other], recordedNode('IPv4')))
    if (result !== 'equal') return true;
  return false;
}

const tables = (saved: SavedTables) => tablesSide(new SavedRules(saved, () => true));

/** The tables, each time without one of their rules. */
function* withoutRules(saved: SavedTables): Generator<readonly [rule: string, left: SavedTables]> {
  for (const [at, table] of saved.entries())
    for (const [of, chain] of table.chains.entries())
      for (const [place, rule] of chain.rules.entries()) {
        const rules = chain.rules.toSpliced(place, 1);
        const chains = table.chains.with(of, { ...chain, rules });
        yield [`${table.name} ${chain.name} ${rule}`, saved.with(at, { ...table, chains })];
      }
}

/**
 * Rules that do nothing to the first packet of a connection, and why: they are for later packets, for a mark that nothing has any more,
 * accept what is accepted anyway, leave a chain at its end, or send where nothing comes from outside.
 */
const WITHOUT_EFFECT: readonly RegExp[] = [
  /--ctstate (?:INVALID|RELATED,ESTABLISHED) /,
  /KUBE-POSTROUTING -j MARK --set-xmark 0x\w+\/0x0/,
  /KUBE-FORWARD .*-j ACCEPT$/,
  /-j KUBE-FORWARD$/,
  / -j ACCEPT$/,
  // Jumps to chains that have no rule in the scenario.
  /-j KUBE-(?:NODEPORTS|EXTERNAL-SERVICES|PROXY-FIREWALL|SERVICES)$/,
  // Nothing comes from outside for loopback addresses.
  /KUBE-FIREWALL/,
  // The rule after it does the same, but counts nothing.
  /localhost_nps_accepted_pkts/,
  // Clients outside the pod network are masqueraded anyway, this endpoint among them.
  /-s 198\.51\.100\.1\/32 .*-j KUBE-MARK-MASQ$/,
  // It only explains.
  /will be dropped by KUBE-PROXY-FIREWALL"$/,
];

/** The same of mode ipvs, all of it or of some scenarios. */
const IDLE_IN_IPVS: readonly { readonly what: RegExp; readonly of?: readonly string[] }[] = [
  ...WITHOUT_EFFECT.map((what) => ({ what })),
  // From loopback addresses only those are reached, which no virtual server has.
  { what: /^nat KUBE-SERVICES -s 127\.0\.0\.0\/8 -j RETURN$/ },
  // Nothing refuses ports of addresses that are the node's own anyway.
  { what: /KUBE-HEALTH-CHECK-NODE-PORT|health check rules" -j KUBE-NODE-PORT$/ },
  // All that they are for has the external policy Local, whose rules come first.
  {
    what: /KUBE-NODE-PORT-TCP|-j KUBE-NODE-PORT$/,
    of: ['detect-local-bridge', 'external-ips', 'nodeport-local-policy', 'loadbalancer-local-healthcheck'],
  },
  { what: /KUBE-LOAD-BALANCER/, of: ['loadbalancer-local-healthcheck'] },
  // Nothing is sent on whose source could be rewritten, and what is not let pass is refused by IPVS.
  {
    what: /^KUBE-(?:CLUSTER-IP|EXTERNAL-IP|LOAD-BALANCER|NODE-PORT-\w+) |-j KUBE-(?:MARK-MASQ|LOAD-BALANCER|NODE-PORT)$|^filter KUBE-IPVS-FILTER .*-j RETURN$/,
    of: ['no-endpoints'],
  },
  { what: /^KUBE-CLUSTER-IP 172\.30\.10\.14,tcp:80$/, of: ['internal-local'] },
];

/** Rules that ask for members of an empty set, jumps to chains that have no others, and what is in chains to which nothing else leads. */
function idleRules(saved: SavedTables, sets: readonly IpSet[]): (rule: string) => boolean {
  const empty = new Set(sets.filter(({ members }) => members.size === 0).map(({ name }) => name));
  const chainsOf = (table: string) => saved.find(({ name }) => name === table)!.chains;
  const targetOf = (rule: string) => /-j (KUBE-\S+)$/.exec(rule)?.[1];
  const isIdle = (table: string, rule: string): boolean => {
    const set = /--match-set (\S+)/.exec(rule)?.[1];
    if (set !== undefined && empty.has(set)) return true;
    const called = chainsOf(table).find(({ name }) => name === targetOf(rule));
    return called !== undefined && called.rules.every((each) => isIdle(table, each));
  };
  return (text) => {
    const [table = '', chain = ''] = text.split(' ', 2);
    if (!saved.some(({ name }) => name === table)) return false;
    const callers = chainsOf(table).flatMap(({ rules }) => rules.filter((rule) => targetOf(rule) === chain));
    const isReached = !chain.startsWith('KUBE-') || callers.some((rule) => !isIdle(table, rule));
    return !isReached || isIdle(table, text);
  };
}

/** The sets, each time without one of their members. */
function* withoutMembers(
  sets: readonly IpSet[],
): Generator<readonly [member: string, left: readonly IpSet[]]> {
  for (const [at, set] of sets.entries())
    for (const member of set.members) {
      const members = new Set(set.members);
      members.delete(member);
      yield [`${set.name} ${member}`, sets.with(at, { ...set, members })];
    }
}

/** In scenario masquerade-all: what endpoints get that reach themselves. */
const MASQUERADED_ANYWAY = /KUBE-SEP-\w+ -s .* -j KUBE-MARK-MASQ$|hairpin-connections/;

describe.each(chosen)('every rule of %s', (scenario) => {
  it('of mode iptables is missed if it goes, or has no effect', () => {
    const saved = parseSave(recordedDump({ scenario, step: 1 }, 'IPv4'), 'IPv4');
    const missed = [...withoutRules(saved)].filter(([, left]) => !isFound(tables(saved), tables(left)));
    const known = [...WITHOUT_EFFECT, ...(scenario === 'masquerade-all' ? [MASQUERADED_ANYWAY] : [])];
    const unexplained = missed.filter(([rule]) => !known.some((reason) => reason.test(rule)));
    expect(unexplained.map(([rule]) => rule)).toEqual([]);
  });

  it('of mode ipvs and every member of its sets is missed if it goes, or has no effect', () => {
    const all = recordedIpvs({ scenario, step: 1 }, 'IPv4');
    const saved = parseSave(recordedDump({ scenario, step: 1 }, 'IPv4', 'ipvs'), 'IPv4');
    const whole = ipvsSide(all);
    const rules = [...withoutRules(saved)].filter(
      ([, left]) => !isFound(whole, ipvsSide({ ...all, rules: new SavedRules(left, () => true) })),
    );
    const members = [...withoutMembers(all.sets)].filter(
      ([, sets]) => !isFound(whole, ipvsSide({ ...all, sets })),
    );
    const isIdle = idleRules(saved, all.sets);
    const missed = [...rules, ...members].map(([what]) => what).filter((what) => !isIdle(what));
    const isKnown = (text: string) =>
      IDLE_IN_IPVS.some(({ what, of = [scenario] }) => of.includes(scenario) && what.test(text));
    expect(missed.filter((what) => !isKnown(what))).toEqual([]);
  });

  it('of IPVS is missed if it goes', () => {
    const all = recordedIpvs({ scenario, step: 1 }, 'IPv4');
    const whole = ipvsSide(all);
    for (const [key, { server, realServers }] of all.servers) {
      const servers = new Map(all.servers);
      servers.delete(key);
      expect([key, isFound(whole, ipvsSide({ ...all, servers }))]).toEqual([key, true]);
      for (const place of realServers.keys()) {
        servers.set(key, { server, realServers: realServers.toSpliced(place, 1) });
        expect([key, place, isFound(whole, ipvsSide({ ...all, servers }))]).toEqual([key, place, true]);
      }
    }
  });

  it('of mode nftables is missed if it goes, or has no effect', () => {
    const listing = parseListing(recordedText({ scenario, step: 1 }, 'nftables', 'nft-ip'));
    const side = (listed: Listing) => listedSide(listed, 'IPv4')!;
    const missed = [...withoutListedRules(listing)].filter(([, left]) => !isFound(side(listing), side(left)));
    const isKnown = (rule: string) =>
      isIdle(rule, listing) || (scenario === 'masquerade-all' && MASQUERADED_ANYWAY.test(rule));
    expect(missed.map(([rule]) => rule).filter((rule) => !isKnown(rule))).toEqual([]);
  });
});

function* withoutListedRules({ tables: listed }: Listing): Generator<readonly [rule: string, left: Listing]> {
  const [table] = listed;
  for (const [at, chain] of table!.chains.entries())
    for (const [place, rule] of chain.rules.entries()) {
      const rules = chain.rules.toSpliced(place, 1);
      const chains = table!.chains.with(at, { ...chain, rules });
      yield [`${chain.name} ${ruleText(rule, 'IPv4')}`, { tables: [{ ...table!, chains }] }];
    }
  for (const [at, { set, elements }] of table!.sets.entries())
    for (const [place, { key, verdict }] of elements.entries()) {
      const sets = table!.sets.with(at, { set, elements: elements.toSpliced(place, 1) });
      const element = `${hex(key!)} ${verdict?.chain ?? ''}`;
      yield [`element of ${set.name} ${element}`, { tables: [{ ...table!, sets }] }];
    }
}

/** Look-ups in maps that are empty, jumps to chains that only do that, and what no element leads to. */
function isIdle(rule: string, { tables: [table] }: Listing): boolean {
  const elementsOf = (name: string) => table!.sets.find(({ set }) => set.name === name)!.elements;
  const isEmpty = (name: string) => elementsOf(name).length === 0;
  const [, map] = / vmap @(\S+)/.exec(rule) ?? [];
  if (map !== undefined && isEmpty(map)) return true;
  if (rule.startsWith('reject-chain'))
    return !table!.sets.some(({ elements }) =>
      elements.some(({ verdict }) => verdict?.chain === 'reject-chain'),
    );
  if (rule.startsWith('element of nodeport-ips'))
    return isEmpty('service-nodeports') && isEmpty('no-endpoint-nodeports');
  // No service address is the node's own, and those of the cluster are refused behind it.
  if (/^filter-input .*jump service-endpoints-check/.test(rule)) return true;
  if (rule.startsWith('element of no-endpoint-services') && rule.includes('reject-chain'))
    return elementsOf('cluster-ips').some(({ key }) => rule.includes(hex(key!)));
  if (rule.startsWith('masquerading') && rule.includes('@hairpin-connections'))
    return isEmpty('hairpin-connections');
  const [, target] = / jump (\S+)/.exec(rule) ?? [];
  const chain = table!.chains.find(({ name }) => name === target);
  return (
    chain !== undefined &&
    chain.rules.every((each) => isIdle(` ${ruleText(each, 'IPv4')}`, { tables: [table!] }))
  );
}
