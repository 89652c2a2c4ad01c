import { plannedNftables } from '../../../src/diagnostics/adapters/rules/nftables-rules.js';
import { listedSide, parseListing } from '../../../src/diagnostics/adapters/nft-listing/listing.js';
import type { ComparedNode } from '../../../src/diagnostics/domain/compare/clients.js';
import { ipvsPlan, ipvsSide, tablesSide } from '../../../src/diagnostics/domain/compare/tables-side.js';
import { desiredIptables, desiredRules } from '../../../src/diagnostics/domain/iptables/desired-rules.js';
import { desiredIpvs } from '../../../src/diagnostics/domain/ipvs-walk.js';
import type { Side } from '../../../src/diagnostics/domain/compare/side.js';
import { SavedRules } from '../../../src/diagnostics/domain/iptables/saved-rules.js';
import { rangeOf } from '../../../src/diagnostics/domain/compare/address-ranges.js';
import { parseCidr } from '../../../src/domain/net/cidr.js';
import type { IpFamily } from '../../../src/domain/net/ip-family.js';
import { parseSave } from '../iptables/parse-save.js';
import {
  RECORDED_HOST,
  recordedContext,
  recordedDump,
  recordedText,
  recordedState,
  forwardingTable,
  type RecordedStep,
} from '../recorded/cluster.js';
import { recordedIpvs } from '../recorded/ipvs-dump.js';
import { localAddresses } from '../testbed/network.js';

const SCHEDULERS = { scheduler: 'rr', hasScheduler: () => true };

export type ComparedMode = 'iptables' | 'ipvs' | 'nftables';

/** What a plan of that mode has for the objects of a step. */
export function planned(step: RecordedStep, family: IpFamily, mode: ComparedMode): Side {
  const state = recordedState(step);
  const context = recordedContext(step, state, family, mode);
  const entries = [...forwardingTable(state, context).entries()];
  const { network } = context;
  switch (mode) {
    case 'iptables':
      return tablesSide(desiredRules(desiredIptables(entries, network, RECORDED_HOST)));
    case 'ipvs':
      return ipvsPlan(desiredIpvs(entries, network, RECORDED_HOST, SCHEDULERS));
    case 'nftables':
      return plannedNftables(entries, network);
  }
}

/** What kube-proxy had in the kernel. */
export function recorded(step: RecordedStep, family: IpFamily, mode: ComparedMode): Side {
  if (mode === 'nftables') {
    const text = recordedText(step, mode, family === 'IPv4' ? 'nft-ip' : 'nft-ip6');
    return listedSide(parseListing(text), family)!;
  }
  if (mode === 'ipvs') return ipvsSide(recordedIpvs(step, family));
  return tablesSide(new SavedRules(parseSave(recordedDump(step, family), family), () => true));
}

/** The node of the recordings. */
export function recordedNode(family: IpFamily): ComparedNode {
  const six = family === 'IPv6';
  return {
    family,
    localAddresses: new Set([...localAddresses].filter((address) => address.includes(':') === six)),
    podNetworks: [rangeOf(parseCidr(six ? 'fd00:10:244:1::/64' : '10.244.1.0/24')!)],
    clusterNetworks: [rangeOf(parseCidr(six ? 'fd00:10:244::/48' : '10.244.0.0/16')!)],
  };
}
