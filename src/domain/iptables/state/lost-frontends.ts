import { frontendText, NODE_PORT, type FrontendAddress } from '../../conntrack/frontend-map.js';
import type { DesiredTables } from './desired-tables.js';
import { savedRules, type SavedTables } from '../text/saved-tables.js';
import type { RuleText } from '../table.js';

/** How the rules of a mode lead from a frontend to its service port. */
export interface Dispatch {
  /** Of table nat. */
  readonly chains: readonly string[];
  /** The targets of such rules, as a regular expression. */
  readonly targets: string;
}

const IPTABLES_DISPATCH: Dispatch = {
  chains: ['KUBE-SERVICES', 'KUBE-NODEPORTS'],
  targets: 'KUBE-(?:SVC|SVL|EXT|FW|XLB)-',
};

/** The UDP frontends for which the saved tables lead to a service port and the desired ones do not. */
export function lostUdpFrontends(
  saved: SavedTables,
  desired: DesiredTables,
  { chains, targets }: Dispatch = IPTABLES_DISPATCH,
): readonly FrontendAddress[] {
  const pattern = new RegExp(`^(?:-d ([^/ ]+)/(?:32|128) )?-p udp .*--dport (\\d+) .*-j ${targets}`);
  const udpFrontend = (rule: RuleText): FrontendAddress[] => {
    const [, address = NODE_PORT, port] = pattern.exec(rule) ?? [];
    return port === undefined ? [] : [{ address, port: Number(port) }];
  };
  return chains.flatMap((name) => {
    const present = (savedRules(saved, 'nat', name) ?? []).flatMap(udpFrontend);
    if (present.length === 0) return [];
    const chain = desired.shared('nat').find((each) => each.name === name);
    const wanted = new Set((chain?.rules ?? []).flatMap(udpFrontend).map(frontendText));
    return present.filter((frontend) => !wanted.has(frontendText(frontend)));
  });
}
