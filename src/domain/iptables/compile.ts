import type { ForwardingEntry, Frontend } from '../forwarding/forwarding-entry.js';
import type { Endpoint } from '../model/endpoint.js';
import { displayName } from '../model/service-port-name.js';
import { hostPort } from '../net/address.js';
import {
  EXTERNAL_SERVICES,
  MARK_MASQ,
  NODE_PORTS,
  PROXY_FIREWALL,
  ServiceChainNames,
  SERVICES,
} from './chain-names.js';
import { endpointChain, endpointChoice, type EndpointRules } from './endpoint-chains.js';
import { countedBy, type IptablesOptions } from './options.js';
import { comment } from './quoting.js';
import {
  addressText,
  from,
  fromLocalPods,
  notFromLocalPods,
  numberText,
  protocolText,
  ruleText,
  to,
  type RuleParts,
} from './rule-parts.js';
import type { Chain, IptablesFragment, SharedEntry, TableName } from './table.js';

const MAX_PORT = 65535;
const LOCAL_DESTINATION = '-m addrtype --dst-type LOCAL';
const LOCAL_SOURCE = '-m addrtype --src-type LOCAL';

/**
 * Compiles one service port into what it puts into the tables of its family (spec/iptables.md §7).
 * @throws UnsafeRuleTextError when a value of the entry cannot stand in a rule
 */
export function compileIptables(entry: ForwardingEntry, options: IptablesOptions): IptablesFragment {
  return new ServicePortCompiler(entry, options).compile();
}

class ServicePortCompiler {
  private readonly chains: Chain[] = [];
  private readonly entries: SharedEntry[] = [];
  private readonly service: string;
  private readonly names: ServiceChainNames;
  private readonly protocol: string;
  /** Endpoints exist, and the external policy lets general clients have one. */
  private readonly servesOutside: boolean;
  private readonly restrictsSources: boolean;

  constructor(
    private readonly entry: ForwardingEntry,
    private readonly options: IptablesOptions,
  ) {
    const { name, endpoints, externalPolicyLocal } = entry;
    this.service = displayName(name);
    this.names = new ServiceChainNames(name);
    this.protocol = protocolText(name.protocol);
    this.servesOutside = endpoints.hasAny && (!externalPolicyLocal || Boolean(endpoints.local?.length));
    this.restrictsSources =
      endpoints.hasAny && entry.sourceRanges.length > 0 && this.frontends('load-balancer-ip').length > 0;
  }

  compile(): IptablesFragment {
    for (const frontend of this.entry.frontends) {
      if (frontend.kind === 'cluster-ip') this.dispatchClusterIP(frontend);
      else if (frontend.kind === 'node-port') this.dispatchNodePort(frontend);
      else this.dispatchExternal(frontend);
    }
    this.acceptHealthChecks();
    if (this.entry.endpoints.hasAny && this.entry.externallyReachable) this.externalChain();
    if (this.restrictsSources) this.firewallChain();
    this.endpointChains();
    return { chains: this.chains, entries: this.entries };
  }

  private dispatchClusterIP(frontend: Frontend): void {
    const { internalPolicyLocal } = this.entry;
    if (frontend.outcome === 'forward') {
      const target = this.names.of(internalPolicyLocal ? 'SVL' : 'SVC');
      this.place('nat', SERVICES, frontend, { matches: [this.comment('cluster IP')], target });
    } else {
      this.turnAway(SERVICES, frontend);
    }
  }

  private dispatchExternal(frontend: Frontend): void {
    const isLoadBalancer = frontend.kind === 'load-balancer-ip';
    if (this.entry.endpoints.hasAny) {
      this.place('nat', SERVICES, frontend, {
        matches: [this.comment(isLoadBalancer ? 'loadbalancer IP' : 'external IP')],
        target: this.names.of(isLoadBalancer && this.restrictsSources ? 'FW' : 'EXT'),
      });
      if (isLoadBalancer && this.restrictsSources) {
        const reason = `traffic not accepted by ${this.names.of('FW')}`;
        this.place('filter', PROXY_FIREWALL, frontend, { matches: [this.comment(reason)], target: 'DROP' });
      }
    }
    if (!this.servesOutside) this.turnAway(EXTERNAL_SERVICES, frontend);
  }

  private dispatchNodePort(frontend: Frontend): void {
    if (this.entry.endpoints.hasAny) {
      const target = this.names.of('EXT');
      const matches = [comment(this.service)];
      if (this.countsLocalhostNodePorts) {
        const counted = [countedBy('localhost_nps_accepted_pkts')];
        this.place('nat', NODE_PORTS, frontend, { destination: '-d 127.0.0.0/8', matches, target }, counted);
      }
      this.place('nat', NODE_PORTS, frontend, { matches, target });
    }
    if (!this.servesOutside) this.turnAway(EXTERNAL_SERVICES, frontend);
  }

  private get countsLocalhostNodePorts(): boolean {
    const { node, host } = this.options;
    return (
      this.entry.family === 'IPv4' &&
      Boolean(node.localhostNodePorts) &&
      host.counters.has('localhost_nps_accepted_pkts')
    );
  }

  /** An ICMP error when the service port has no endpoints at all, silence when it has none here. */
  private turnAway(chain: string, frontend: Frontend): void {
    const { endpoints, family } = this.entry;
    const local = frontend.kind === 'node-port' ? [LOCAL_DESTINATION] : [];
    const reject = `REJECT --reject-with ${family === 'IPv4' ? 'icmp' : 'icmp6'}-port-unreachable`;
    this.place('filter', chain, frontend, {
      matches: [this.comment(`has no ${endpoints.hasAny ? 'local ' : ''}endpoints`), ...local],
      target: endpoints.hasAny ? 'DROP' : reject,
    });
  }

  private acceptHealthChecks(): void {
    const { healthCheckNodePort } = this.entry;
    if (healthCheckNodePort === 0) return;
    const port = numberText('health check node port', healthCheckNodePort, MAX_PORT);
    const matches = [this.comment('health check node port'), `-m tcp --dport ${port}`];
    const rule = ruleText({ protocol: '-p tcp', matches, target: 'ACCEPT' });
    this.entries.push({ table: 'filter', chain: NODE_PORTS, rule });
  }

  /** The door for everything that is addressed from outside: masquerades, or keeps the source and stays on this node. */
  private externalChain(): void {
    const { externalPolicyLocal } = this.entry;
    const everywhere = this.names.of('SVC');
    const because = (text: string) => [comment(text.replace('$', () => this.service))];
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
    if (this.servesOutside) rules.push({ target: externalPolicyLocal ? this.names.of('SVL') : everywhere });
    this.chain(this.names.of('EXT'), rules.map(ruleText));
  }

  /** The sources that may use the load-balancer IPs. What falls out at its end is dropped by the table filter. */
  private firewallChain(): void {
    const { sourceRanges, sourceRangesCoverNode, family } = this.entry;
    const virtual = this.frontends('load-balancer-ip').map(({ address }) => address!);
    const matches = [this.comment('loadbalancer IP')];
    const target = this.names.of('EXT');
    const rules = [...sourceRanges, ...(sourceRangesCoverNode ? virtual : [])].map((network) =>
      ruleText({ source: from(network, family), matches, target }),
    );
    const last = `other traffic to ${this.service} will be dropped by ${PROXY_FIREWALL}`;
    this.chain(this.names.of('FW'), [...rules, ruleText({ matches: [comment(last)] })]);
  }

  private endpointChains(): void {
    const { endpoints, affinitySeconds, family, internalPolicyLocal, frontends } = this.entry;
    const context: EndpointRules = {
      service: this.service,
      protocol: this.protocol,
      family,
      affinitySeconds,
      comments: !this.options.largeCluster,
    };
    const chainOf = new Map<string, string>();
    const nameOf = ({ text }: Endpoint): string => {
      const name = chainOf.get(text) ?? this.names.ofEndpoint(text);
      chainOf.set(text, name);
      return name;
    };
    const clusterIP = frontends.find(({ kind }) => kind === 'cluster-ip');
    const masquerade = clusterIP?.outcome === 'forward' ? this.clusterIPMasquerade(clusterIP) : [];
    const choice = (kind: 'SVC' | 'SVL', list: readonly Endpoint[] | undefined) => {
      if (!list?.length) return;
      const first = internalPolicyLocal === (kind === 'SVL') ? masquerade : [];
      this.chain(this.names.of(kind), [...first, ...endpointChoice(list, nameOf, context)]);
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
    const { detector, masqueradeAll } = this.options.node;
    if (!masqueradeAll && !detector) return [];
    const source = masqueradeAll ? {} : notFromLocalPods(detector!);
    const matches = [this.comment('cluster IP'), this.portMatch(clusterIP)];
    return [ruleText({ ...this.headOf(clusterIP), ...source, matches, target: MARK_MASQ })];
  }

  /** Puts a rule about a frontend's packets into a chain that service ports share. */
  private place(
    table: TableName,
    chain: string,
    frontend: Frontend,
    parts: RuleParts,
    afterPort: readonly string[] = [],
  ): void {
    const { address, port } = frontend;
    const matches = [...(parts.matches ?? []), this.portMatch(frontend), ...afterPort];
    const where = address === undefined ? `node port ${port}` : hostPort(address, port);
    this.entries.push({
      table,
      chain,
      rule: ruleText({ ...this.headOf(frontend), ...parts, matches }),
      frontend: `${where}/${this.entry.name.protocol}`,
    });
  }

  private headOf({ address }: Frontend): RuleParts {
    const destination = address === undefined ? undefined : to(addressText(address), this.entry.family);
    return { destination, protocol: `-p ${this.protocol}` };
  }

  private portMatch({ port }: Frontend): string {
    return `-m ${this.protocol} --dport ${numberText('port', port, MAX_PORT)}`;
  }

  private comment(text: string): string {
    return comment(`${this.service} ${text}`);
  }

  private frontends(kind: Frontend['kind']): readonly Frontend[] {
    return this.entry.frontends.filter((frontend) => frontend.kind === kind);
  }

  private chain(name: string, rules: readonly string[]): void {
    this.chains.push({ table: 'nat', name, rules });
  }
}
