import { weightOf } from '../balancing/balancing.js';
import { endpointPlace, type Endpoint } from '../model/endpoint.js';
import { hostPort } from '../net/address.js';
import type { IpFamily } from '../net/ip-family.js';
import type { EndpointSelection } from '../select-endpoints.js';
import { MARK_MASQ } from './chain-names.js';
import { checkComment, comment, addressText, from, MAX_PORT, numberText, ruleText } from './rule-text.js';
import type { RuleText } from './table.js';

/** The common input of the rules of a service port's endpoints. */
export interface EndpointContext {
  /** `namespace/service:port` */
  readonly service: string;
  /** The match that names it; undefined where comments are left out, which is so in large clusters. */
  readonly comment: string | undefined;
  /** In lower case. */
  readonly protocol: string;
  readonly family: IpFamily;
  /** 0 without session affinity. */
  readonly affinitySeconds: number;
}

/** The rules that choose one endpoint of a list: the one that the client had, else any (docs/internals/spec/iptables.md §7.9). */
export function endpointChoice(
  list: readonly Endpoint[],
  chainOf: (endpoint: Endpoint) => string,
  { service, family, affinitySeconds, comment: commented }: EndpointContext,
): readonly RuleText[] {
  const because = (endpoint: Endpoint) =>
    commented ? [comment(`${service} -> ${endpointPlace(endpoint)}`)] : [];
  const rules: RuleText[] = [];
  if (affinitySeconds > 0) {
    const seconds = secondsText(affinitySeconds);
    for (const endpoint of list) {
      const target = chainOf(endpoint);
      const seen = `-m recent --rcheck --seconds ${seconds} --reap ${recentList(target, family)}`;
      rules.push(ruleText({ matches: [...because(endpoint), seen], target }));
    }
  }
  let left = list.reduce((sum, endpoint) => sum + weightOf(endpoint), 0);
  list.forEach((endpoint, index) => {
    const isLast = index === list.length - 1;
    const weight = weightOf(endpoint);
    const chance = isLast ? [] : [`-m statistic --mode random --probability ${probability(weight, left)}`];
    left -= weight;
    rules.push(ruleText({ matches: [...because(endpoint), ...chance], target: chainOf(endpoint) }));
  });
  return rules;
}

/** How many rules choose one endpoint of the list. */
export function endpointChoiceSize(list: readonly Endpoint[], { affinitySeconds }: EndpointContext): number {
  return affinitySeconds > 0 ? list.length * 2 : list.length;
}

/** Rules of each endpoint. */
export const ENDPOINT_RULES = 2;

/** The rules of one endpoint: its own packets are masqueraded, all go to it (docs/internals/spec/iptables.md §7.10). */
export function endpointRules(
  { address, port }: Endpoint,
  name: string,
  { protocol, family, affinitySeconds, comment }: EndpointContext,
): readonly RuleText[] {
  const because = comment === undefined ? [] : [comment];
  const remember = affinitySeconds > 0 ? [`-m recent --set ${recentList(name, family)}`] : [];
  const destination = hostPort(addressText(address), Number(numberText('port', port, MAX_PORT)));
  return [
    ruleText({ source: from(address, family), matches: because, target: MARK_MASQ }),
    ruleText({
      protocol: `-p ${protocol}`,
      matches: [...because, ...remember, `-m ${protocol}`],
      target: `DNAT --to-destination ${destination}`,
    }),
  ];
}

/**
 * Makes sure that the rules of these endpoints can be made.
 * @throws UnsafeRuleTextError
 */
export function checkEndpoints(
  { cluster, local, reachable }: EndpointSelection,
  affinitySeconds: number,
): void {
  secondsText(affinitySeconds);
  for (const list of new Set([cluster, local, reachable])) {
    for (const endpoint of list ?? []) {
      addressText(endpoint.address);
      numberText('port', endpoint.port, MAX_PORT);
      checkComment(endpointPlace(endpoint));
    }
  }
}

function secondsText(affinitySeconds: number): string {
  return numberText('seconds of session affinity', affinitySeconds, Number.MAX_SAFE_INTEGER);
}

const WHOLE_ADDRESS: Readonly<Record<IpFamily, string>> = {
  IPv4: '255.255.255.255',
  IPv6: 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
};

function recentList(name: string, family: IpFamily): string {
  return `--name ${name} --mask ${WHOLE_ADDRESS[family]} --rsource`;
}

/** The kernel's match `statistic` compares 31 random bits with this share of them. */
const WHOLE = 0x80000000;
const DECIMALS = 11;

/** The texts of 1/n, by n. */
const texts: string[] = [];

/**
 * A part of a whole, as iptables-save prints it: kube-proxy writes ten decimals (docs/internals/spec/iptables.md §7.9), the tool keeps the
 * nearest of 2^31 steps (lround in libxt_statistic), and prints that with eleven.
 */
export function probability(part: number, whole: number): string {
  return part === 1 ? (texts[whole] ??= share(1, whole)) : share(part, whole);
}

function share(part: number, whole: number): string {
  return printed(Math.round(Number((part / whole).toFixed(10)) * WHOLE));
}

/** C's `%.11f`, which rounds an exact half to the even digit; `toFixed` rounds it up. */
function printed(steps: number): string {
  const scaled = BigInt(steps) * 10n ** BigInt(DECIMALS);
  const whole = BigInt(WHOLE);
  const rest = (scaled % whole) * 2n;
  let digits = scaled / whole;
  if (rest > whole || (rest === whole && digits % 2n === 1n)) digits++;
  const text = digits.toString().padStart(DECIMALS + 1, '0');
  return `${text.slice(0, -DECIMALS)}.${text.slice(-DECIMALS)}`;
}
