import type { Side } from '../../domain/compare/side.js';
import type { IpFamily } from '../../../domain/net/ip-family.js';

/** A side in each family that it has. */
export type FamilySides = Partial<Record<IpFamily, Side>>;
