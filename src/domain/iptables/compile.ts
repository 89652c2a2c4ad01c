import { type ForwardingEntry, type Frontend, frontendName } from '../forwarding/forwarding-entry.js';
import { EXTERNAL_SERVICES, NODE_PORTS, PROXY_FIREWALL, SERVICES } from './chain-names.js';
import { type IptablesOptions, countedBy } from './options.js';
import { comment, MAX_PORT, numberText, ruleText, type RuleParts } from './rule-text.js';
import { checkServiceChains, serviceChains, ServicePortTerms } from './service-chains.js';
import type { Chain, IptablesServicePortRules, SharedEntry, TableName } from './table.js';

/**
 * Compiles one service port into what it puts into the tables of its family (docs/internals/spec/iptables.md §7).
 * @throws UnsafeRuleTextError when a value of the entry cannot stand in a rule
 */
export function compileIptables(entry: ForwardingEntry, options: IptablesOptions): IptablesServicePortRules {
  checkServiceChains(entry, options);
  return new CompiledRules(new SharedEntries(new ServicePortTerms(entry), options).all(), entry, options);
}

class CompiledRules implements IptablesServicePortRules {
  constructor(
    readonly entries: readonly SharedEntry[],
    private readonly entry: ForwardingEntry,
    private readonly options: IptablesOptions,
  ) {}

  get chains(): readonly Chain[] {
    return serviceChains(new ServicePortTerms(this.entry), this.options);
  }
}

const LOCAL_DESTINATION = '-m addrtype --dst-type LOCAL';

/** The rules of a service port in chains that all service ports share: they lead its packets to its own chains, or away. */
class SharedEntries {
  private readonly entries: SharedEntry[] = [];

  constructor(
    private readonly terms: ServicePortTerms,
    private readonly options: IptablesOptions,
  ) {}

  all(): readonly SharedEntry[] {
    for (const frontend of this.terms.entry.frontends) {
      if (frontend.kind === 'cluster-ip') this.dispatchClusterIP(frontend);
      else if (frontend.kind === 'node-port') this.dispatchNodePort(frontend);
      else this.dispatchExternal(frontend);
    }
    this.acceptHealthChecks();
    // Exactly as long, since these are kept for every service port.
    return this.entries.slice();
  }

  private dispatchClusterIP(frontend: Frontend): void {
    const { entry, names } = this.terms;
    if (frontend.outcome === 'forward') {
      const target = names.of(entry.internalPolicyLocal ? 'SVL' : 'SVC');
      this.place('nat', SERVICES, frontend, { matches: [this.terms.comment('cluster IP')], target });
    } else {
      this.rejectOrDrop(SERVICES, frontend);
    }
  }

  private dispatchExternal(frontend: Frontend): void {
    const { terms } = this;
    const isLoadBalancer = frontend.kind === 'load-balancer-ip';
    if (terms.entry.endpoints.hasAny) {
      this.place('nat', SERVICES, frontend, {
        matches: [terms.comment(isLoadBalancer ? 'loadbalancer IP' : 'external IP')],
        target: terms.names.of(isLoadBalancer && terms.restrictsSources ? 'FW' : 'EXT'),
      });
      if (isLoadBalancer && terms.restrictsSources) {
        const reason = terms.comment(`traffic not accepted by ${terms.names.of('FW')}`);
        this.place('filter', PROXY_FIREWALL, frontend, { matches: [reason], target: 'DROP' });
      }
    }
    if (!terms.servesOutside) this.rejectOrDrop(EXTERNAL_SERVICES, frontend);
  }

  private dispatchNodePort(frontend: Frontend): void {
    const { entry, names, service, servesOutside } = this.terms;
    if (entry.endpoints.hasAny) {
      const target = names.of('EXT');
      const matches = [comment(service)];
      if (this.countsLocalhostNodePorts) {
        const counted = [countedBy('localhost_nps_accepted_pkts')];
        this.place('nat', NODE_PORTS, frontend, { destination: '-d 127.0.0.0/8', matches, target }, counted);
      }
      this.place('nat', NODE_PORTS, frontend, { matches, target });
    }
    if (!servesOutside) this.rejectOrDrop(EXTERNAL_SERVICES, frontend);
  }

  private get countsLocalhostNodePorts(): boolean {
    const { node, host } = this.options;
    return (
      this.terms.entry.family === 'IPv4' &&
      Boolean(node.localhostNodePorts) &&
      host.counters.has('localhost_nps_accepted_pkts')
    );
  }

  /** An ICMP error when the service port has no endpoints at all, silence when it has none here. */
  private rejectOrDrop(chain: string, frontend: Frontend): void {
    const { endpoints, family } = this.terms.entry;
    const local = frontend.kind === 'node-port' ? [LOCAL_DESTINATION] : [];
    const reject = `REJECT --reject-with ${family === 'IPv4' ? 'icmp' : 'icmp6'}-port-unreachable`;
    this.place('filter', chain, frontend, {
      matches: [this.terms.comment(`has no ${endpoints.hasAny ? 'local ' : ''}endpoints`), ...local],
      target: endpoints.hasAny ? 'DROP' : reject,
    });
  }

  private acceptHealthChecks(): void {
    const { healthCheckNodePort } = this.terms.entry;
    if (healthCheckNodePort === 0) return;
    const port = numberText('health check node port', healthCheckNodePort, MAX_PORT);
    const matches = [this.terms.comment('health check node port'), `-m tcp --dport ${port}`];
    const rule = ruleText({ protocol: '-p tcp', matches, target: 'ACCEPT' });
    this.entries.push({ table: 'filter', chain: NODE_PORTS, rule });
  }

  /** Puts a rule about a frontend's packets into a chain. */
  private place(
    table: TableName,
    chain: string,
    frontend: Frontend,
    parts: RuleParts,
    afterPort: readonly string[] = [],
  ): void {
    const { terms } = this;
    const { address, port } = frontend;
    const matches = [...(parts.matches ?? []), terms.portMatch(frontend), ...afterPort];
    this.entries.push({
      table,
      chain,
      rule: ruleText({ ...terms.headOf(frontend), ...parts, matches }),
      frontend: frontendName(address, port, terms.entry.name.protocol),
    });
  }
}
