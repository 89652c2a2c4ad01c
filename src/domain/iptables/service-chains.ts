import type { ForwardingEntry, Frontend } from '../forwarding/forwarding-entry.js';
import type { Endpoint } from '../model/endpoint.js';
import { MARK_MASQ, PROXY_FIREWALL, type ServiceChainKind } from './chain-names.js';
import { checkEndpoints, endpointChoice, endpointRules, type EndpointContext } from './endpoint-chains.js';
import type { IptablesOptions } from './options.js';
import { comment } from './quoting.js';
import { from, fromLocalPods, notFromLocalPods, ruleText, type RuleParts } from './rule-parts.js';
import type { ServicePortTerms } from './service-port-terms.js';
import type { Chain, RuleText } from './table.js';

const LOCAL_SOURCE = '-m addrtype --src-type LOCAL';

/** The chains that are a service port's alone. */
export function serviceChains(terms: ServicePortTerms, options: IptablesOptions): readonly Chain[] {
  return new ServiceChains(terms, options).all();
}

/**
 * Makes sure that serviceChains does not throw.
 * @throws UnsafeRuleTextError
 */
export function checkServiceChains(entry: ForwardingEntry, { node }: IptablesOptions): void {
  const { endpoints, affinitySeconds, sourceRanges, family } = entry;
  checkEndpoints(endpoints, affinitySeconds);
  for (const range of sourceRanges) from(range, family);
  if (node.detector) notFromLocalPods(node.detector);
}

/** What a chain of a service port is for. An endpoint: its own chain. */
type Purpose = ServiceChainKind | Endpoint;

class ServiceChains {
  private readonly endpointNames = new Map<string, string>();
  private readonly context: EndpointContext;

  constructor(
    private readonly terms: ServicePortTerms,
    private readonly options: IptablesOptions,
  ) {
    const { service, protocol, entry } = terms;
    const { family, affinitySeconds } = entry;
    const named = options.largeCluster ? undefined : comment(service);
    this.context = { service, comment: named, protocol, family, affinitySeconds };
  }

  all(): readonly Chain[] {
    const { entry, restrictsSources } = this.terms;
    const { hasAny, cluster, local, reachable } = entry.endpoints;
    const purposes: Purpose[] = [];
    if (hasAny && entry.externallyReachable) purposes.push('EXT');
    if (restrictsSources) purposes.push('FW');
    if (cluster?.length) purposes.push('SVC');
    if (local?.length) purposes.push('SVL');
    purposes.push(...reachable);
    // The name tells service port and endpoint apart, so this is all else that an endpoint's rules are made of.
    const ofEndpoints = `${entry.affinitySeconds} ${this.context.comment ?? ''}`;
    return purposes.map((purpose) => {
      const origin = typeof purpose === 'string' ? undefined : ofEndpoints;
      return new ServiceChain(this.nameOf(purpose), purpose, origin, this);
    });
  }

  rules(purpose: Purpose): readonly RuleText[] {
    const { cluster, local } = this.terms.entry.endpoints;
    switch (purpose) {
      case 'EXT':
        return this.externalRules();
      case 'FW':
        return this.firewallRules();
      case 'SVC':
        return this.choiceRules('SVC', cluster ?? []);
      case 'SVL':
        return this.choiceRules('SVL', local ?? []);
      default:
        return endpointRules(purpose, this.nameOf(purpose), this.context);
    }
  }

  private nameOf(purpose: Purpose): string {
    const { names } = this.terms;
    if (typeof purpose === 'string') return names.of(purpose);
    const name = this.endpointNames.get(purpose.text) ?? names.ofEndpoint(purpose.text);
    this.endpointNames.set(purpose.text, name);
    return name;
  }

  /** The door for everything that is addressed from outside: masquerades, or keeps the source and stays on this node. */
  private externalRules(): readonly RuleText[] {
    const { entry, names, service, servesOutside } = this.terms;
    const { externalPolicyLocal } = entry;
    const everywhere = names.of('SVC');
    const because = (text: string) => [comment(text.replace('$', () => service))];
    const rules: RuleParts[] = [];
    if (externalPolicyLocal) {
      const { detector } = this.options.node;
      if (detector) {
        const matches = because('pod traffic for $ external destinations');
        rules.push({ ...fromLocalPods(detector), matches, target: everywhere });
      }
      rules.push(
        {
          matches: [...because('masquerade LOCAL traffic for $ external destinations'), LOCAL_SOURCE],
          target: MARK_MASQ,
        },
        {
          matches: [...because('route LOCAL traffic for $ external destinations'), LOCAL_SOURCE],
          target: everywhere,
        },
      );
    } else {
      rules.push({ matches: because('masquerade traffic for $ external destinations'), target: MARK_MASQ });
    }
    if (servesOutside) rules.push({ target: externalPolicyLocal ? names.of('SVL') : everywhere });
    return rules.map(ruleText);
  }

  /** The sources that may use the load-balancer IPs. What falls out at its end is dropped by the table filter. */
  private firewallRules(): readonly RuleText[] {
    const { entry, names, service } = this.terms;
    const { sourceRanges, sourceRangesCoverNode, family } = entry;
    const virtual = this.terms.frontends('load-balancer-ip').map(({ address }) => address!);
    const matches = [this.terms.comment('loadbalancer IP')];
    const target = names.of('EXT');
    const rules = [...sourceRanges, ...(sourceRangesCoverNode ? virtual : [])].map((network) =>
      ruleText({ source: from(network, family), matches, target }),
    );
    const last = `other traffic to ${service} will be dropped by ${PROXY_FIREWALL}`;
    return [...rules, ruleText({ matches: [comment(last)] })];
  }

  private choiceRules(kind: 'SVC' | 'SVL', list: readonly Endpoint[]): readonly RuleText[] {
    const { frontends, internalPolicyLocal } = this.terms.entry;
    const clusterIP = frontends.find((frontend) => frontend.kind === 'cluster-ip');
    const isServed = clusterIP?.outcome === 'forward' && internalPolicyLocal === (kind === 'SVL');
    const first = isServed ? this.clusterIPMasquerade(clusterIP) : [];
    return [...first, ...endpointChoice(list, (endpoint) => this.nameOf(endpoint), this.context)];
  }

  /** Clients that are no pods of the cluster would not get their answers through this node otherwise. */
  private clusterIPMasquerade(clusterIP: Frontend): readonly RuleText[] {
    const { terms } = this;
    const { detector, masqueradeAll } = this.options.node;
    if (!masqueradeAll && !detector) return [];
    const source = masqueradeAll ? {} : notFromLocalPods(detector!);
    const matches = [terms.comment('cluster IP'), terms.portMatch(clusterIP)];
    return [ruleText({ ...terms.headOf(clusterIP), ...source, matches, target: MARK_MASQ })];
  }
}

/** Its rules are made when they are asked for: thousands of chains are named before the first is written. */
class ServiceChain implements Chain {
  readonly table = 'nat';

  constructor(
    readonly name: string,
    private readonly purpose: Purpose,
    readonly origin: string | undefined,
    private readonly source: ServiceChains,
  ) {}

  get rules(): readonly RuleText[] {
    return this.source.rules(this.purpose);
  }
}
