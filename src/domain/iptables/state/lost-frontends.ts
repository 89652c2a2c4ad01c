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

/** The UDP frontends for which the saved tables lead to a service port. */
export function udpFrontends(
  saved: SavedTables,
  { chains, targets }: Dispatch = IPTABLES_DISPATCH,
): readonly FrontendAddress[] {
  return frontendsIn(
    chains.flatMap((name) => savedRules(saved, 'nat', name) ?? []),
    targets,
  );
}

/** Those of UDP frontends for which the desired tables do not lead to a service port. */
export function lostUdpFrontends(
  frontends: readonly FrontendAddress[],
  desired: DesiredTables,
  { chains, targets }: Dispatch = IPTABLES_DISPATCH,
): readonly FrontendAddress[] {
  const shared = desired.shared('nat').filter(({ name }) => chains.includes(name));
  const wanted = frontendsIn(
    shared.flatMap(({ rules }) => rules),
    targets,
  );
  const texts = new Set(wanted.map(frontendText));
  return frontends.filter((frontend) => !texts.has(frontendText(frontend)));
}

function frontendsIn(rules: readonly RuleText[], targets: string): readonly FrontendAddress[] {
  const pattern = new RegExp(`^(?:-d ([^/ ]+)/(?:32|128) )?-p udp .*--dport (\\d+) .*-j ${targets}`);
  return rules.flatMap((rule) => {
    const [, address = NODE_PORT, port] = pattern.exec(rule) ?? [];
    return port === undefined ? [] : [{ address, port: Number(port) }];
  });
}
