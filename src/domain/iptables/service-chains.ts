import { weightOf } from '../balancing/balancing.js';
import type { ForwardingEntry, Frontend } from '../forwarding/forwarding-entry.js';
import { endpointPlace, type Endpoint } from '../model/endpoint.js';
import { getOrMake } from '../model/maps.js';
import { displayName } from '../model/service-port-name.js';
import { MARK_MASQ, type ServiceChainKind, PROXY_FIREWALL, ServiceChainNames } from './chain-names.js';
import {
  checkEndpoints,
  endpointChoice,
  endpointChoiceSize,
  endpointRules,
  ENDPOINT_RULES,
  type EndpointContext,
} from './endpoint-chains.js';
import type { IptablesOptions } from './options.js';
import {
  comment,
  from,
  notFromLocalPods,
  ruleText,
  type RuleParts,
  fromLocalPods,
  addressText,
  MAX_PORT,
  numberText,
  protocolText,
  to,
} from './rule-text.js';
import type { Chain, RuleText } from './table.js';

type ServiceChain = Required<Chain>;

/** The chains that are a service port's alone. Names and rules are made on each access: there are very many chains. */
export function serviceChains(terms: ServicePortTerms, options: IptablesOptions): readonly ServiceChain[] {
  const { hasAny, cluster, local, reachable } = terms.entry.endpoints;
  const context = new ServiceChainContext(terms, options);
  const chains: ServiceChain[] = [];
  if (hasAny && terms.entry.externallyReachable)
    chains.push(new OutsideChain('EXT', terms, () => externalRules(terms, options)));
  if (terms.restrictsSources) chains.push(new OutsideChain('FW', terms, () => firewallRules(terms)));
  if (cluster?.length) chains.push(new ChoiceChain('SVC', cluster, context));
  if (local?.length) chains.push(new ChoiceChain('SVL', local, context));
  for (const endpoint of reachable) chains.push(new EndpointChain(endpoint, context));
  return chains;
}

/**
 * Makes sure that no chain of serviceChains throws.
 * @throws UnsafeRuleTextError
 */
export function checkServiceChains(entry: ForwardingEntry, { node }: IptablesOptions): void {
  const { endpoints, affinitySeconds, sourceRanges, family } = entry;
  checkEndpoints(endpoints, affinitySeconds);
  for (const range of sourceRanges) from(range, family);
  if (node.detector) notFromLocalPods(node.detector);
}

/** The common input of the chains of a service port. */
class ServiceChainContext {
  readonly endpoint: EndpointContext;
  private readonly endpointNames = new Map<Endpoint, string>();

  constructor(
    readonly terms: ServicePortTerms,
    readonly options: IptablesOptions,
  ) {
    const { service, protocol, entry } = terms;
    const { family, affinitySeconds } = entry;
    const named = options.largeCluster ? undefined : comment(service);
    this.endpoint = { service, comment: named, protocol, family, affinitySeconds };
  }

  nameOf(endpoint: Endpoint): string {
    return getOrMake(this.endpointNames, endpoint, () =>
      this.terms.names.ofEndpoint(endpointPlace(endpoint)),
    );
  }

  /** Inputs of the rules about an endpoint besides service port and endpoint. */
  get endpointOrigin(): string {
    const { affinitySeconds, comment = '' } = this.endpoint;
    return `${affinitySeconds} ${comment}`;
  }
}

/** The jump to the choice for external traffic. */
class OutsideChain implements ServiceChain {
  readonly table = 'nat';

  constructor(
    readonly id: ServiceChainKind,
    private readonly terms: ServicePortTerms,
    private readonly make: () => readonly RuleText[],
  ) {}

  get name(): string {
    return this.terms.names.of(this.id);
  }

  get rules(): readonly RuleText[] {
    return this.make();
  }

  get origin(): string {
    return this.rules.join('\n');
  }

  get size(): number {
    return this.rules.length;
  }
}

/** The choice among a list of endpoints. */
class ChoiceChain implements ServiceChain {
  readonly table = 'nat';
  /** The frontend whose packets are masqueraded here, unless they come from the cluster's own pods. */
  private readonly masqueraded: Frontend | undefined;

  constructor(
    readonly id: 'SVC' | 'SVL',
    private readonly list: readonly Endpoint[],
    private readonly context: ServiceChainContext,
  ) {
    const { frontends, internalPolicyLocal } = context.terms.entry;
    const { detector, masqueradeAll } = context.options.node;
    if (!masqueradeAll && !detector) return;
    const clusterIP = frontends.find((frontend) => frontend.kind === 'cluster-ip');
    const isServed = clusterIP?.outcome === 'forward' && internalPolicyLocal === (id === 'SVL');
    if (isServed) this.masqueraded = clusterIP;
  }

  get name(): string {
    return this.context.terms.names.of(this.id);
  }

  get rules(): readonly RuleText[] {
    const { list, context, masqueraded } = this;
    const choice = endpointChoice(list, (endpoint) => context.nameOf(endpoint), context.endpoint);
    return masqueraded ? [this.masqueradeRule(masqueraded), ...choice] : choice;
  }

  get origin(): string {
    const { list, context, masqueraded } = this;
    const parts = [context.endpointOrigin];
    if (masqueraded) {
      const { source, input } = this.outsiders;
      parts.push(`${masqueraded.address} ${masqueraded.port} ${source ?? input ?? ''}`);
    }
    for (const endpoint of list) parts.push(`${endpointPlace(endpoint)} ${weightOf(endpoint)}`);
    return parts.join('\n');
  }

  get size(): number {
    return (this.masqueraded ? 1 : 0) + endpointChoiceSize(this.list, this.context.endpoint);
  }

  /** Without it, answers to clients that are not pods of the cluster would not come back through this node. */
  private masqueradeRule(clusterIP: Frontend): RuleText {
    const { terms } = this.context;
    const matches = [terms.comment('cluster IP'), terms.portMatch(clusterIP)];
    return ruleText({ ...terms.headOf(clusterIP), ...this.outsiders, matches, target: MARK_MASQ });
  }

  private get outsiders(): Pick<RuleParts, 'source' | 'input'> {
    const { detector, masqueradeAll } = this.context.options.node;
    return masqueradeAll || !detector ? {} : notFromLocalPods(detector);
  }
}

/** The way to one endpoint. */
class EndpointChain implements ServiceChain {
  readonly table = 'nat';
  readonly size = ENDPOINT_RULES;

  constructor(
    private readonly endpoint: Endpoint,
    private readonly context: ServiceChainContext,
  ) {}

  get id(): string {
    return endpointPlace(this.endpoint);
  }

  get name(): string {
    return this.context.nameOf(this.endpoint);
  }

  get rules(): readonly RuleText[] {
    return endpointRules(this.endpoint, this.name, this.context.endpoint);
  }

  get origin(): string {
    return this.context.endpointOrigin;
  }
}

const LOCAL_SOURCE = '-m addrtype --src-type LOCAL';

/** For everything that is addressed from outside: masquerades, or keeps the source and stays on this node. */
function externalRules(
  { entry, names, service, servesOutside }: ServicePortTerms,
  { node }: IptablesOptions,
): readonly RuleText[] {
  const { externalPolicyLocal } = entry;
  const everywhere = names.of('SVC');
  const because = (text: string) => [comment(text.replace('$', () => service))];
  const rules: RuleParts[] = [];
  if (externalPolicyLocal) {
    if (node.detector) {
      const matches = because('pod traffic for $ external destinations');
      rules.push({ ...fromLocalPods(node.detector), matches, target: everywhere });
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

/** The sources that may use the load-balancer IPs. Table filter drops packets that reach its end. */
function firewallRules(terms: ServicePortTerms): readonly RuleText[] {
  const { entry, names, service } = terms;
  const { sourceRanges, sourceRangesCoverNode, family } = entry;
  const virtual = terms.frontends('load-balancer-ip').map(({ address }) => address!);
  const matches = [terms.comment('loadbalancer IP')];
  const target = names.of('EXT');
  const rules = [...sourceRanges, ...(sourceRangesCoverNode ? virtual : [])].map((network) =>
    ruleText({ source: from(network, family), matches, target }),
  );
  const last = `other traffic to ${service} will be dropped by ${PROXY_FIREWALL}`;
  return [...rules, ruleText({ matches: [comment(last)] })];
}

/** The common input of the rules of a service port in all chains. */
export class ServicePortTerms {
  /** `namespace/service:port` */
  readonly service: string;
  readonly names: ServiceChainNames;
  /** In lower case. */
  readonly protocol: string;
  /** Endpoints exist, and the external policy lets general clients have one. */
  readonly servesOutside: boolean;
  /** Load-balancer IPs are for some sources only. */
  readonly restrictsSources: boolean;

  constructor(readonly entry: ForwardingEntry) {
    const { name, endpoints, externalPolicyLocal } = entry;
    this.service = displayName(name);
    this.names = new ServiceChainNames(name);
    this.protocol = protocolText(name.protocol);
    this.servesOutside = endpoints.hasAny && (!externalPolicyLocal || Boolean(endpoints.local?.length));
    this.restrictsSources =
      endpoints.hasAny && entry.sourceRanges.length > 0 && this.frontends('load-balancer-ip').length > 0;
  }

  frontends(kind: Frontend['kind']): readonly Frontend[] {
    return this.entry.frontends.filter((frontend) => frontend.kind === kind);
  }

  /** The start of a rule about a frontend's packets. */
  headOf({ address }: Frontend): RuleParts {
    const destination = address === undefined ? undefined : to(addressText(address), this.entry.family);
    return { destination, protocol: `-p ${this.protocol}` };
  }

  portMatch({ port }: Frontend): string {
    return `-m ${this.protocol} --dport ${numberText('port', port, MAX_PORT)}`;
  }

  comment(text: string): string {
    return comment(`${this.service} ${text}`);
  }
}
