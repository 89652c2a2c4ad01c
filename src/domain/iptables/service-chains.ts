import type { Frontend } from '../forwarding/forwarding-entry.js';
import type { Endpoint } from '../model/endpoint.js';
import { MARK_MASQ, PROXY_FIREWALL } from './chain-names.js';
import { checkEndpoints, endpointChain, endpointChoice, type EndpointRules } from './endpoint-chains.js';
import type { IptablesOptions } from './options.js';
import { comment } from './quoting.js';
import { from, fromLocalPods, notFromLocalPods, ruleText, type RuleParts } from './rule-parts.js';
import type { ServicePortTerms } from './service-port-terms.js';
import type { Chain } from './table.js';

const LOCAL_SOURCE = '-m addrtype --src-type LOCAL';

/** The chains that are a service port's alone. */
export function serviceChains(terms: ServicePortTerms, options: IptablesOptions): readonly Chain[] {
  return new ServiceChains(terms, options).all();
}

/**
 * Makes sure that serviceChains does not throw.
 * @throws UnsafeRuleTextError
 */
export function checkServiceChains({ entry }: ServicePortTerms, { node }: IptablesOptions): void {
  const { endpoints, affinitySeconds, sourceRanges, family } = entry;
  checkEndpoints(endpoints, affinitySeconds);
  for (const range of sourceRanges) from(range, family);
  if (node.detector) notFromLocalPods(node.detector);
}

class ServiceChains {
  private readonly chains: Chain[] = [];

  constructor(
    private readonly terms: ServicePortTerms,
    private readonly options: IptablesOptions,
  ) {}

  all(): readonly Chain[] {
    const { entry, restrictsSources } = this.terms;
    if (entry.endpoints.hasAny && entry.externallyReachable) this.externalChain();
    if (restrictsSources) this.firewallChain();
    this.endpointChains();
    return this.chains;
  }

  /** The door for everything that is addressed from outside: masquerades, or keeps the source and stays on this node. */
  private externalChain(): void {
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
    this.chain(names.of('EXT'), rules.map(ruleText));
  }

  /** The sources that may use the load-balancer IPs. What falls out at its end is dropped by the table filter. */
  private firewallChain(): void {
    const { entry, names, service } = this.terms;
    const { sourceRanges, sourceRangesCoverNode, family } = entry;
    const virtual = this.terms.frontends('load-balancer-ip').map(({ address }) => address!);
    const matches = [this.terms.comment('loadbalancer IP')];
    const target = names.of('EXT');
    const rules = [...sourceRanges, ...(sourceRangesCoverNode ? virtual : [])].map((network) =>
      ruleText({ source: from(network, family), matches, target }),
    );
    const last = `other traffic to ${service} will be dropped by ${PROXY_FIREWALL}`;
    this.chain(names.of('FW'), [...rules, ruleText({ matches: [comment(last)] })]);
  }

  private endpointChains(): void {
    const { entry, names, service, protocol } = this.terms;
    const { endpoints, affinitySeconds, family, internalPolicyLocal, frontends } = entry;
    const comments = !this.options.largeCluster;
    const context: EndpointRules = { service, protocol, family, affinitySeconds, comments };
    const chainOf = new Map<string, string>();
    const nameOf = ({ text }: Endpoint): string => {
      const name = chainOf.get(text) ?? names.ofEndpoint(text);
      chainOf.set(text, name);
      return name;
    };
    const clusterIP = frontends.find(({ kind }) => kind === 'cluster-ip');
    const masquerade = clusterIP?.outcome === 'forward' ? this.clusterIPMasquerade(clusterIP) : [];
    const choice = (kind: 'SVC' | 'SVL', list: readonly Endpoint[] | undefined) => {
      if (!list?.length) return;
      const first = internalPolicyLocal === (kind === 'SVL') ? masquerade : [];
      this.chain(names.of(kind), [...first, ...endpointChoice(list, nameOf, context)]);
    };
    choice('SVC', endpoints.cluster);
    choice('SVL', endpoints.local);
    for (const endpoint of endpoints.reachable) {
      const name = nameOf(endpoint);
      this.chain(name, endpointChain(endpoint, name, context));
    }
  }

  /** Clients that are no pods of the cluster would not get their answers through this node otherwise. */
  private clusterIPMasquerade(clusterIP: Frontend): readonly string[] {
    const { terms } = this;
    const { detector, masqueradeAll } = this.options.node;
    if (!masqueradeAll && !detector) return [];
    const source = masqueradeAll ? {} : notFromLocalPods(detector!);
    const matches = [terms.comment('cluster IP'), terms.portMatch(clusterIP)];
    return [ruleText({ ...terms.headOf(clusterIP), ...source, matches, target: MARK_MASQ })];
  }

  private chain(name: string, rules: readonly string[]): void {
    this.chains.push({ table: 'nat', name, rules });
  }
}
