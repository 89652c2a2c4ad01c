import type { RawObject } from '../decode/fields.js';
import { parseAddress } from '../net/address.js';
import { isObject, membersOf, type FieldProblem } from './schema.js';

/** Values that an API server gives to one Service only: cluster IPs, and node ports by protocol. */
export class Allocations {
  private readonly owners = new Map<string, string>();

  /**
   * Returns what another Service holds already; all else is the Service's own from now on.
   * @param subject the Service, for people
   * @param service defaults applied; values that are no address or port are ignored
   */
  claim(subject: string, service: RawObject): readonly FieldProblem[] {
    return claimsOf(service).flatMap(({ field, what }) => {
      const owner = this.owners.get(what);
      if (owner === undefined) this.owners.set(what, subject);
      return owner === undefined || owner === subject ? [] : [{ field, what: `${what} belongs to ${owner}` }];
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
    if (isObject(port))
      claims.push(...nodePort(`spec.ports[${index}].nodePort`, port.nodePort, port.protocol));
  }
  return [...claims, ...nodePort('spec.healthCheckNodePort', spec.healthCheckNodePort, 'TCP')];
}

function nodePort(field: string, port: unknown, protocol: unknown): readonly FieldProblem[] {
  if (typeof port !== 'number' || port === 0 || typeof protocol !== 'string') return [];
  return [{ field, what: `node port ${port}/${protocol}` }];
}
