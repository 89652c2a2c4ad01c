import { SERVICES } from '../../../domain/iptables/chain-names.js';
import type { IpFamily } from '../../../domain/net/ip-family.js';
import type { IptablesCommands } from '../../iptables/iptables-commands.js';

const LEADS_TO_SERVICE = / -j KUBE-(?:SVC|SVL|EXT|FW)-/;

/** Whether rules of mode iptables serve Services on this node at present. */
export async function servedByIptables(
  commands: Pick<IptablesCommands, 'listChain'>,
  family: IpFamily,
): Promise<boolean> {
  const rules = await commands.listChain(family, 'nat', SERVICES);
  return rules?.some((rule) => LEADS_TO_SERVICE.test(rule)) ?? false;
}
