import type { IpFamily } from '../../../../domain/net/ip-family.js';
import type { SetDefinition } from '../../../../domain/nftables/layout/table.js';
import { componentOf, slotLength, typeOf, type Component } from '../read/components.js';
import { SET_FLAG, VERDICT_TYPE } from '../nf-tables.js';
import { getOrMake } from '../../../../domain/model/get-or-make.js';

/** A set as the kernel sees it (docs/spec/nft-netlink.md §6.4, §7.1). */
export interface SetLayout {
  readonly flags: number;
  readonly key: readonly Component[];
  readonly keyType: number;
  readonly keyLength: number;
  /** Undefined for sets and for verdict maps. */
  readonly value: readonly Component[] | undefined;
  /** 0 for sets. */
  readonly dataType: number;
  /** 0 for sets and verdict maps. */
  readonly dataLength: number;
  /** 0 for no limit. */
  readonly size: number;
}

const known = {
  IPv4: new WeakMap<SetDefinition, SetLayout>(),
  IPv6: new WeakMap<SetDefinition, SetLayout>(),
};

/** The layout of a set in a family. Computed once for each definition. */
export function setLayout(family: IpFamily, set: SetDefinition): SetLayout {
  return getOrMake(known[family], set, () => layOut(family, set));
}

function layOut(family: IpFamily, { key, value, dynamicSize }: SetDefinition): SetLayout {
  const keyComponents = key.map((type) => componentOf(family, type));
  const valueComponents = Array.isArray(value) ? value.map((type) => componentOf(family, type)) : undefined;
  const ofData = valueComponents && shape(valueComponents);
  const { type: keyType, length: keyLength } = shape(keyComponents);
  return {
    flags:
      (value === undefined ? 0 : SET_FLAG.MAP) |
      (dynamicSize === undefined ? 0 : SET_FLAG.TIMEOUT | SET_FLAG.EVAL),
    key: keyComponents,
    keyType,
    keyLength,
    value: valueComponents,
    dataType: value === 'verdict' ? VERDICT_TYPE : (ofData?.type ?? 0),
    dataLength: ofData?.length ?? 0,
    size: dynamicSize ?? 0,
  };
}

/** A single component keeps its own length; in a concatenation each fills whole slots. */
function shape(components: readonly Component[]): { type: number; length: number } {
  if (components.length === 1) {
    const { number, length } = typeOf(components[0]!);
    return { type: number, length };
  }
  return components.reduce(
    ({ type, length }, component) => ({
      type: ((type << 6) | typeOf(component).number) >>> 0,
      length: length + slotLength(component),
    }),
    { type: 0, length: 0 },
  );
}

/** Describes a set in words that compare equal if two sets differ only in name, comment and elements. */
export function describeLayout(layout: Omit<SetLayout, 'key' | 'value'>): string {
  const { flags, keyType, keyLength, dataType, dataLength, size } = layout;
  return [
    `flags 0x${flags.toString(16)}`,
    `key 0x${keyType.toString(16)}/${keyLength}`,
    ...(flags & SET_FLAG.MAP
      ? [`data 0x${dataType.toString(16)}/${dataType === VERDICT_TYPE ? 0 : dataLength}`]
      : []),
    ...(size > 0 ? [`size ${size}`] : []),
  ].join(' ');
}
