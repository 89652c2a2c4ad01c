import { cidrText, parseCidr, type Cidr } from '../net/cidr.js';
import {
  objectField,
  readEach,
  readObject,
  subdomainField,
  InvalidObject,
  quote,
  type Reading,
} from './fields.js';

/** The ranges of a `networking.k8s.io/v1 ServiceCIDR`, with the object's name. */
export interface ServiceCidr {
  readonly name: string;
  readonly cidrs: readonly Cidr[];
}

export function readServiceCidr(raw: unknown): Reading<ServiceCidr> {
  return readObject(raw, 'ServiceCIDR', (object, metadata) => {
    const name = subdomainField(metadata.name, 'metadata.name');
    const cidrs = readEach(objectField(object.spec, 'spec').cidrs, 'spec.cidrs', (text) => {
      const cidr = parseCidr(text);
      if (!cidr) throw new InvalidObject(` ${quote(text)} is not a CIDR`);
      return cidr;
    });
    return { value: { name, cidrs }, problems: [] };
  });
}

/** The ranges of one family in all ServiceCIDR objects: canonical text, sorted, without duplicates. */
export function serviceRanges(objects: Iterable<ServiceCidr>, family: Cidr['family']): readonly string[] {
  const texts = new Set<string>();
  for (const { cidrs } of objects) {
    for (const cidr of cidrs) if (cidr.family === family) texts.add(cidrText(cidr));
  }
  return [...texts].sort();
}
