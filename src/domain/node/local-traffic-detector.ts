import { parseCidr, type Cidr } from '../net/cidr.js';
import type { IpFamily } from '../net/ip-family.js';
import { isInterfaceName } from './interface-name.js';

/** How a packet is known to come from a pod: by its source, or by the interface it came in through (docs/spec/model.md §6). */
export type LocalTrafficDetector =
  | { readonly kind: 'cidr'; readonly cidr: Cidr }
  | {
      readonly kind: 'interface';
      readonly name: string;
      /** `name` is only the start of the interface's name. */
      readonly wildcard: boolean;
    };

/** What the detectors of both families are made from. */
export interface LocalTrafficSettings {
  readonly mode: 'ClusterCIDR' | 'NodeCIDR' | 'BridgeInterface' | 'InterfaceNamePrefix';
  readonly clusterCIDRs: readonly string[];
  /** `spec.podCIDRs` of the own Node as it was at start. */
  readonly podCIDRs: readonly string[];
  readonly bridgeInterface: string;
  readonly interfaceNamePrefix: string;
}

/** The name cannot belong to an interface, or could not stand in a rule. */
export class InvalidInterfaceNameError extends Error {
  constructor(readonly interfaceName: string) {
    super(
      `${JSON.stringify(interfaceName)} cannot be the name of an interface: give at most 15 bytes of a name`,
    );
    this.name = 'InvalidInterfaceNameError';
  }
}

/**
 * The detector of a family; undefined when the mode has nothing to tell the family's local traffic by, and rules that
 * depend on it are left out.
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
