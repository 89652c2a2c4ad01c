import type { RawObject } from '../decode/fields.js';
import { parseAddress } from '../net/address.js';
import { isObject, membersOf, type FieldProblem } from './schema.js';

/** What an API server gives to one Service only: cluster IPs, and node ports by protocol. */
export class Allocations {
  private readonly holders = new Map<string, string>();

  /**
   * Returns what another Service holds already; all else is the Service's own from now on.
   * @param subject the Service, for people
   * @param service valid, defaults applied
   */
  claim(subject: string, service: RawObject): readonly FieldProblem[] {
    return claimsOf(service).flatMap(({ field, what }) => {
      const holder = this.holders.get(what);
      if (holder === undefined) this.holders.set(what, subject);
      return holder === undefined || holder === subject
        ? []
        : [{ field, what: `${what} belongs to ${holder}` }];
    });
  }
}

function claimsOf({ spec }: RawObject): readonly FieldProblem[] {
  if (!isObject(spec)) return [];
  const claims: FieldProblem[] = [];
  for (const [index, ip] of membersOf(spec.clusterIPs).entries()) {
    const address = parseAddress(ip);
    const field = `spec.${index === 0 ? 'clusterIP' : `clusterIPs[${index}]`}`;
    if (address) claims.push({ field, what: address.text });
  }
  for (const [index, port] of membersOf(spec.ports).entries()) {
    if (isObject(port) && port.nodePort)
      claims.push({ field: `spec.ports[${index}].nodePort`, what: nodePort(port.nodePort, port.protocol) });
  }
  if (spec.healthCheckNodePort)
    claims.push({ field: 'spec.healthCheckNodePort', what: nodePort(spec.healthCheckNodePort, 'TCP') });
  return claims;
}

function nodePort(port: unknown, protocol: unknown): string {
  return `node port ${String(port)}/${String(protocol)}`;
}
