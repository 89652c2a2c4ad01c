import { NODE_PORTS, SERVICES } from '../../../domain/iptables/chain-names.js';
import type { IpFamily } from '../../../domain/net/ip-family.js';
import type { IptablesCommands } from '../../iptables/iptables-commands.js';

const LEADS_TO_SERVICE = / -j KUBE-(?:SVC|SVL|EXT|FW)-/;
const LEADS_TO_NODE_PORTS = new RegExp(` -j ${NODE_PORTS}$`);

/** Whether rules of mode iptables serve Services on this node at present. */
export async function servedByIptables(
  commands: Pick<IptablesCommands, 'listChain'>,
  family: IpFamily,
): Promise<boolean> {
  const leads = (rules: readonly string[]): boolean => rules.some((rule) => LEADS_TO_SERVICE.test(rule));
  const rules = (await commands.listChain(family, 'nat', SERVICES)) ?? [];
  if (leads(rules)) return true;
  // Where no cluster IP has an endpoint, node ports may.
  if (!rules.some((rule) => LEADS_TO_NODE_PORTS.test(rule))) return false;
  return leads((await commands.listChain(family, 'nat', NODE_PORTS)) ?? []);
}
