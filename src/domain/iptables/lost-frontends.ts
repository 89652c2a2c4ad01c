import { NODE_PORT, type FrontendAddress } from '../conntrack/frontend-map.js';
import type { IptablesImage } from './image.js';
import { savedRules, type SavedTables } from './saved-tables.js';
import type { RuleText } from './table.js';

/** The chains of table nat whose rules lead from a frontend to its service port. */
const DISPATCH = ['KUBE-SERVICES', 'KUBE-NODEPORTS'];
const UDP_FRONTEND = /^(?:-d ([^/ ]+)\/(?:32|128) )?-p udp .*--dport (\d+) .*-j KUBE-(?:SVC|SVL|EXT|FW|XLB)-/;

/** The UDP frontends for which the saved tables lead to a service port and the image does not. */
export function lostUdpFrontends(saved: SavedTables, image: IptablesImage): readonly FrontendAddress[] {
  return DISPATCH.flatMap((name) => {
    const present = (savedRules(saved, 'nat', name) ?? []).filter((rule) => frontendText(rule).length > 0);
    if (present.length === 0) return [];
    const chain = image.shared('nat').find((each) => each.name === name);
    const wanted = new Set((chain?.rules ?? []).flatMap(frontendText));
    return present.flatMap((rule) =>
      frontendText(rule).some((text) => wanted.has(text)) ? [] : udpFrontend(rule),
    );
  });
}

function udpFrontend(rule: RuleText): FrontendAddress[] {
  const [, address = NODE_PORT, port] = UDP_FRONTEND.exec(rule) ?? [];
  return port === undefined ? [] : [{ address, port: Number(port) }];
}

function frontendText(rule: RuleText): string[] {
  return udpFrontend(rule).map(({ address, port }) => `${address} ${port}`);
}
