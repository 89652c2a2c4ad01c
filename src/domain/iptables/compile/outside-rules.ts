import { MARK_MASQ, PROXY_FIREWALL } from '../chain-names.js';
import type { IptablesOptions } from './options.js';
import { comment } from '../text/quoting.js';
import { from, fromLocalPods, ruleText, type RuleParts } from '../text/rule-parts.js';
import type { ServicePortTerms } from './service-port-terms.js';
import type { RuleText } from '../table.js';

const LOCAL_SOURCE = '-m addrtype --src-type LOCAL';

/** For everything that is addressed from outside: masquerades, or keeps the source and stays on this node. */
export function externalRules(
  { entry, names, service, servesOutside }: ServicePortTerms,
  { node }: IptablesOptions,
): readonly RuleText[] {
  const { externalPolicyLocal } = entry;
  const everywhere = names.of('SVC');
  const because = (text: string) => [comment(text.replace('$', () => service))];
  const rules: RuleParts[] = [];
  if (externalPolicyLocal) {
    if (node.detector) {
      const matches = because('pod traffic for $ external destinations');
      rules.push({ ...fromLocalPods(node.detector), matches, target: everywhere });
    }
    rules.push(
      {
        matches: [...because('masquerade LOCAL traffic for $ external destinations'), LOCAL_SOURCE],
        target: MARK_MASQ,
      },
      {
        matches: [...because('route LOCAL traffic for $ external destinations'), LOCAL_SOURCE],
        target: everywhere,
      },
    );
  } else {
    rules.push({ matches: because('masquerade traffic for $ external destinations'), target: MARK_MASQ });
  }
  if (servesOutside) rules.push({ target: externalPolicyLocal ? names.of('SVL') : everywhere });
  return rules.map(ruleText);
}

/** The sources that may use the load-balancer IPs. Table filter drops packets that reach its end. */
export function firewallRules(terms: ServicePortTerms): readonly RuleText[] {
  const { entry, names, service } = terms;
  const { sourceRanges, sourceRangesCoverNode, family } = entry;
  const virtual = terms.frontends('load-balancer-ip').map(({ address }) => address!);
  const matches = [terms.comment('loadbalancer IP')];
  const target = names.of('EXT');
  const rules = [...sourceRanges, ...(sourceRangesCoverNode ? virtual : [])].map((network) =>
    ruleText({ source: from(network, family), matches, target }),
  );
  const last = `other traffic to ${service} will be dropped by ${PROXY_FIREWALL}`;
  return [...rules, ruleText({ matches: [comment(last)] })];
}
