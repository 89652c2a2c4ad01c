import type { Planner } from '../../application/ports/planner.js';
import type { ForwardingEntry } from '../../../domain/forwarding/forwarding-entry.js';
import type { NodeNetwork } from '../../../domain/forwarding/node-network.js';
import { setLines } from '../../../domain/ipvs/ip-set.js';
import { compileIpvs } from '../../../domain/ipvs/compile.js';
import { IpvsDesiredState, ipvsDesiredTables } from '../../../domain/ipvs/desired-state.js';
import { serverLines } from '../../../domain/ipvs/virtual-server.js';
import { addressBits } from '../../../domain/net/cidr.js';
import { program } from '../../../adapters/iptables/variants.js';
import { tablesDifference } from '../../../adapters/iptables/tables-difference.js';
import { SERVICE_DEVICE } from '../../../adapters/ipvs/ipvs-kernel.js';

/** Plans mode ipvs: the input of `ipset restore`, iptables-restore, `ipvsadm -R` and `ip -batch`, each under a line with its name. */
export class IpvsPlanner implements Planner {
  /** @param scheduler of Services that do not ask for another one; the kernel is assumed to have those that are asked for */
  constructor(private readonly scheduler: string) {}

  plan(entries: Iterable<ForwardingEntry>, node: NodeNetwork): string {
    const options = { node, scheduler: this.scheduler, hasScheduler: () => true };
    const desired = new IpvsDesiredState();
    for (const entry of entries) desired.replace(entry.key, compileIpvs(entry, options));
    const tables = ipvsDesiredTables(desired, node, { randomFully: true });
    const { repair } = tablesDifference(tables.rules, [], {
      chainsPerCommit: Infinity,
      isServiceChain: () => false,
    });
    const sections = [
      ['ipset restore', tables.sets.flatMap(setLines)],
      [
        `${program('iptables', node.family, 'restore')} --noflush`,
        [...repair.text()].join('').trimEnd().split('\n'),
      ],
      ['ipvsadm -R', serverLines(tables.servers)],
      [
        'ip -batch -',
        [
          `link add ${SERVICE_DEVICE} type dummy`,
          ...tables.addresses.map(
            (address) => `address add ${address}/${addressBits(node.family)} dev ${SERVICE_DEVICE}`,
          ),
        ],
      ],
    ] as const;
    return sections.map(([tool, lines]) => [`# ${tool}`, ...lines, ''].join('\n')).join('');
  }
}
