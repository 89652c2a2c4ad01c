import { parseVirtualServers } from '../../../src/diagnostics/adapters/compare/dump-sides.js';
import { parseSave as parseIpSets } from '../../../src/adapters/ipset/ipset-tool.js';
import { IPVS_OWNED_CHAINS } from '../../../src/adapters/ipvs/clean-up-ipvs.js';
import { isOwned } from '../../../src/adapters/iptables/owned-chains.js';
import type { IpvsRules } from '../../../src/diagnostics/domain/compare/tables-side.js';
import type { IpSet } from '../../../src/domain/ipvs/ip-set.js';
import { SavedRules } from '../../../src/diagnostics/domain/iptables/saved-rules.js';
import { virtualServerKey } from '../../../src/domain/ipvs/virtual-server.js';
import { SERVICE_SETS, setName } from '../../../src/domain/ipvs/service-sets.js';
import type { IpvsInputs } from '../../../src/diagnostics/domain/ipvs-walk.js';
import type { IpFamily } from '../../../src/domain/net/ip-family.js';
import { parseSave } from '../iptables/parse-save.js';
import { recordedDump, recordedText, type RecordedStep } from './cluster.js';

/** What kube-proxy left in the kernel, to walk through. */
export function recordedSurroundings(step: RecordedStep, family: IpFamily): IpvsInputs {
  const { sets, servers, ...rest } = recordedIpvs(step, family);
  return {
    ...rest,
    sets: new Map(sets.map((set): [string, IpSet] => [set.name, set])),
    server: (id) => servers.get(virtualServerKey(id)),
  };
}

/** What kube-proxy left in the kernel, to compare with. */
export function recordedIpvs(step: RecordedStep, family: IpFamily): IpvsRules {
  const servers = parseVirtualServers(recordedText(step, 'ipvs', 'ipvs'));
  const names = new Set(SERVICE_SETS.map((set) => setName(set, family)));
  const { sets } = parseIpSets(recordedText(step, 'ipvs', 'ipset'), names);
  const saved = parseSave(recordedDump(step, family, 'ipvs'), family);
  const addresses = recordedText(step, 'ipvs', 'addresses').split(/\s+/);
  return {
    rules: new SavedRules(saved, (table, chain) => isOwned(IPVS_OWNED_CHAINS, table, chain)),
    sets,
    servers,
    addresses: new Set(addresses.flatMap((word) => /^([^/]+)\/\d+$/.exec(word)?.[1] ?? [])),
  };
}
