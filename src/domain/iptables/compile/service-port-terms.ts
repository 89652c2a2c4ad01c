import type { ForwardingEntry, Frontend } from '../../forwarding/forwarding-entry.js';
import { displayName } from '../../model/service-port-name.js';
import { ServiceChainNames } from '../chain-names.js';
import { comment } from '../text/quoting.js';
import { addressText, MAX_PORT, numberText, protocolText, to, type RuleParts } from '../text/rule-parts.js';

/** What the rules of a service port have in common, whichever chain they stand in. */
export class ServicePortTerms {
  /** `namespace/service:port` */
  readonly service: string;
  readonly names: ServiceChainNames;
  /** In lower case. */
  readonly protocol: string;
  /** Endpoints exist, and the external policy lets general clients have one. */
  readonly servesOutside: boolean;
  /** Load-balancer IPs are for some sources only. */
  readonly restrictsSources: boolean;

  constructor(readonly entry: ForwardingEntry) {
    const { name, endpoints, externalPolicyLocal } = entry;
    this.service = displayName(name);
    this.names = new ServiceChainNames(name);
    this.protocol = protocolText(name.protocol);
    this.servesOutside = endpoints.hasAny && (!externalPolicyLocal || Boolean(endpoints.local?.length));
    this.restrictsSources =
      endpoints.hasAny && entry.sourceRanges.length > 0 && this.frontends('load-balancer-ip').length > 0;
  }

  frontends(kind: Frontend['kind']): readonly Frontend[] {
    return this.entry.frontends.filter((frontend) => frontend.kind === kind);
  }

  /** The start of a rule about a frontend's packets. */
  headOf({ address }: Frontend): RuleParts {
    const destination = address === undefined ? undefined : to(addressText(address), this.entry.family);
    return { destination, protocol: `-p ${this.protocol}` };
  }

  portMatch({ port }: Frontend): string {
    return `-m ${this.protocol} --dport ${numberText('port', port, MAX_PORT)}`;
  }

  comment(text: string): string {
    return comment(`${this.service} ${text}`);
  }
}
