import type { Simulation } from '../simulation.js';
import type { TableCommit } from '../kernel/programs/tables/table-set.js';
import { isBuiltIn } from '../kernel/programs/tables/table.js';

/** Chains of other parts of Kubernetes. */
const OF_OTHERS = /^KUBE-(IPTABLES-HINT|KUBELET-CANARY)$/;
const OWN_TABLES: ReadonlySet<string> = new Set(['ip kube-proxy', 'ip6 kube-proxy']);
/** Of the program: what it starts has numbers like its own; others have far higher ones. */
const FIRST_STRANGER = 500_000;
const OWN_DEVICE = 'kube-ipvs0';

/**
 * Nothing outside the proxy's own rules is ever changed by it: each commit of a process of its changes only its own tables,
 * chains, sets and addresses, and of built-in chains only the rules that lead to its chains.
 */
export class ForeignRules {
  constructor(private readonly simulation: Simulation) {}

  begin(): void {
    const { nfTables, programs, links } = this.simulation.world.machine;
    nfTables.onCommit(({ process, changed }) => {
      if (isStranger(process)) return;
      for (const table of changed) if (!OWN_TABLES.has(table)) this.report(`table ${table} of nf_tables`);
    });
    programs.onCommit((commit) => {
      if (!isStranger(commit.process.pid)) for (const chain of commit.changed) this.judge(commit, chain);
    });
    programs.onSetChange((name) => {
      if (!name.startsWith('KUBE-')) this.report(`set ${name}`);
    });
    let addresses = this.addresses();
    links.onChange = ({ process }) => {
      const next = this.addresses();
      if (next !== addresses && process === this.simulation.world.proxy.life.pid)
        this.report('addresses of a device of others');
      addresses = next;
    };
  }

  private judge({ before, after, family }: TableCommit, chain: string): void {
    const place = `chain ${chain} of table ${after.name} of ${family}`;
    if (isBuiltIn(after.name, chain)) {
      const [was, is] = [before, after].map((table) => table.chains.get(chain));
      const policies = (was?.policy ?? 'ACCEPT') === (is?.policy ?? 'ACCEPT');
      if (!policies || othersIn(was?.rules) !== othersIn(is?.rules)) this.report(place);
    } else if (!chain.startsWith('KUBE-') || OF_OTHERS.test(chain)) this.report(place);
  }

  private addresses(): string {
    return [...this.simulation.world.machine.links.addresses()]
      .filter(({ device }) => device.name !== OWN_DEVICE)
      .map(({ device, address, prefixLength }) => `${device.name} ${address}/${prefixLength}`)
      .join();
  }

  private report(what: string): void {
    const { simulation } = this;
    const { now, beganAt } = simulation.world;
    simulation.report({
      promise: 'nothing of others is changed',
      detail: `${what} was changed`,
      at: now - beganAt,
    });
  }
}

function isStranger(process: number): boolean {
  return process >= FIRST_STRANGER;
}

function othersIn(rules: readonly string[] = []): string {
  return rules.filter((rule) => !rule.includes('-j KUBE-')).join('\n');
}
