import { RejectedError, type WriteResult, type DifferenceLines } from '../../application/ports/driver.js';
import type { NodeNetwork } from '../../domain/forwarding/node-network.js';
import type { IptablesHost } from '../../domain/iptables/options.js';
import { IptablesChange } from '../../domain/iptables/iptables-change.js';
import type { BaseRules, TableName } from '../../domain/iptables/table.js';
import type { SavedTables } from '../../domain/iptables/saved-tables.js';
import { ipvsBaseRules } from '../../domain/ipvs/base-rules.js';
import { type IpvsDesiredState, ipvsDesiredTables } from '../../domain/ipvs/desired-state.js';
import type { ServiceSet } from '../../domain/ipvs/service-sets.js';
import type { ServicePortKey } from '../../domain/model/service-port-name.js';
import type { IptablesDriver } from '../iptables/iptables-driver.js';
import { ruleDifferences } from '../iptables/tables-difference.js';
import type { RulesWrite } from './ordered-write.js';

/** Makes the driver that writes the iptables rules of one family, with these base rules instead of those of iptables mode. */
export type RulesDriverFactory = (
  baseRules: (node: NodeNetwork, host: IptablesHost) => BaseRules,
) => IptablesDriver;

/**
 * The iptables rules of IPVS mode, written by the driver of iptables mode. Few service ports have any. The base rules depend on
 * which sets have members.
 */
export class IpvsRules {
  /** Starts, reads, watches and removes all of them. */
  readonly driver: IptablesDriver;
  /** For which the base rules were written last. */
  private node: NodeNetwork | undefined;
  private filled: ReadonlySet<ServiceSet> = new Set();

  constructor(makeDriver: RulesDriverFactory) {
    this.driver = makeDriver((node, host) => ipvsBaseRules(node, host, this.filled));
  }

  /**
   * Both steps cost nothing where neither these service ports, nor the node, nor the sets that have members changed.
   * @param owners the service ports whose rules may have changed
   */
  changeOf(desired: IpvsDesiredState, owners: ReadonlySet<ServicePortKey>, node: NodeNetwork): RulesWrite {
    const commit = async (filled: ReadonlySet<ServiceSet>, isWanted: boolean): Promise<number> => {
      const change = new IptablesChange();
      let isChanged = this.node !== node || !isSame(filled, this.filled);
      for (const owner of owners) {
        const rules = desired.iptablesRules(owner);
        if ((rules !== undefined) !== isWanted) continue;
        this.driver.desired.replace(owner, rules, change);
        isChanged = true;
      }
      return isChanged ? this.write(filled, node, (copy) => this.driver.commit(change, copy)) : 0;
    };
    return { add: (filled) => commit(filled, true), remove: (filled) => commit(filled, false) };
  }

  /** @param saved the tables as they are */
  repairOf(desired: IpvsDesiredState, saved: SavedTables, node: NodeNetwork): RulesWrite {
    const present = this.driver.desired.entries('filter').map(({ owner }) => owner);
    const owners = new Set([...present, ...desired.ownersOfIptablesRules()]);
    let isGuarded = false;
    const repair = (filled: ReadonlySet<ServiceSet>, tables?: readonly TableName[]) => {
      for (const owner of owners) this.driver.desired.replace(owner, desired.iptablesRules(owner));
      return this.write(filled, node, (copy) => {
        this.driver.expect(copy);
        return this.driver.repair(saved, tables);
      });
    };
    return {
      guard: async (filled) => {
        const written = await repair(filled, ['filter']);
        isGuarded = true;
        return written;
      },
      add: (filled) => repair(filled, isGuarded ? ['nat', 'mangle'] : undefined),
      remove: this.changeOf(desired, new Set(), node).remove,
    };
  }

  differences(desired: IpvsDesiredState, saved: SavedTables, node: NodeNetwork): DifferenceLines {
    return ruleDifferences(ipvsDesiredTables(desired, node, this.driver.host).rules, saved);
  }

  /** @param write gets the node as another object: then base rules are computed again */
  private async write(
    filled: ReadonlySet<ServiceSet>,
    node: NodeNetwork,
    write: (node: NodeNetwork) => Promise<WriteResult>,
  ): Promise<number> {
    this.filled = filled;
    this.node = undefined;
    try {
      const { written } = await write({ ...node });
      this.node = node;
      return written;
    } catch (error) {
      if (!(error instanceof RejectedError)) throw error;
      // Members of sets were written before.
      throw new RejectedError(error, error.rejectedPorts, error.suspects, true);
    }
  }
}

function isSame<T>(one: ReadonlySet<T>, other: ReadonlySet<T>): boolean {
  return one.size === other.size && [...one].every((each) => other.has(each));
}
