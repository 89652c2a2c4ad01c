/** Recognizes traffic of local pods. */

import { parseCidr, type Cidr } from '../net/cidr.js';
import type { IpFamily } from '../net/ip-family.js';
import { NamedError } from '../model/named-error.js';

/** How to recognize a packet from a local pod: by its source, or by its input interface (docs/internals/spec/model.md §6). */
export type LocalTrafficDetector =
  | { readonly kind: 'cidr'; readonly cidr: Cidr }
  | {
      readonly kind: 'interface';
      readonly name: string;
      /** `name` is only the start of the interface's name. */
      readonly wildcard: boolean;
    };

/** The settings for the detectors of both families. */
export interface LocalTrafficSettings {
  readonly mode: 'ClusterCIDR' | 'NodeCIDR' | 'BridgeInterface' | 'InterfaceNamePrefix';
  readonly clusterCIDRs: readonly string[];
  /** `spec.podCIDRs` of this node's Node object. */
  readonly podCIDRs: readonly string[];
  readonly bridgeInterface: string;
  readonly interfaceNamePrefix: string;
}

/** The name is not valid for an interface, or not safe in a rule. */
export class InvalidInterfaceNameError extends NamedError {
  constructor(readonly interfaceName: string) {
    super(`${JSON.stringify(interfaceName)} is not a valid interface name; use a name of at most 15 bytes`);
  }
}

/**
 * The detector of a family. Undefined when the settings do not define the family's local traffic; then there are no rules
 * that depend on it.
 * @throws InvalidInterfaceNameError
 */
export function localTrafficDetector(
  family: IpFamily,
  settings: LocalTrafficSettings,
): LocalTrafficDetector | undefined {
  switch (settings.mode) {
    case 'ClusterCIDR':
      return byFirstCidr(family, settings.clusterCIDRs);
    case 'NodeCIDR':
      return byFirstCidr(family, settings.podCIDRs);
    case 'BridgeInterface':
      return byInterface(settings.bridgeInterface, false);
    case 'InterfaceNamePrefix':
      return byInterface(settings.interfaceNamePrefix, true);
  }
}

function byFirstCidr(family: IpFamily, texts: readonly string[]): LocalTrafficDetector | undefined {
  const cidr = texts.map(parseCidr).find((candidate) => candidate?.family === family);
  return cidr && { kind: 'cidr', cidr };
}

function byInterface(name: string, wildcard: boolean): LocalTrafficDetector {
  if (!isInterfaceName(name)) throw new InvalidInterfaceNameError(name);
  return { kind: 'interface', name, wildcard };
}

/** The longest name of an interface: IFNAMSIZ minus the final zero. Bytes. */
const LONGEST = 15;
/** Characters that the kernel rejects in a name (`/`, `:`, white space), and those with a meaning in a rule's text. */
// eslint-disable-next-line no-control-regex
const FORBIDDEN = /[\s/:"'`\\*\u0000-\u001f\u007f]/;

/** Whether the text is a valid name of an interface, or the start of one, and safe in a rule. */
export function isInterfaceName(text: string): boolean {
  const bytes = new TextEncoder().encode(text).length;
  return bytes > 0 && bytes <= LONGEST && text !== '.' && text !== '..' && !FORBIDDEN.test(text);
}
