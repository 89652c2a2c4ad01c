import type { Protocol } from '../../domain/model/service-port-name.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import { word } from './shape.js';

/** Shapes of what several answers have in common. */
export const family = word<IpFamily>();

export const protocol = word<Protocol>();
