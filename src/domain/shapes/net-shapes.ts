import type { Protocol } from '../model/service-port-name.js';
import type { IpFamily } from '../net/ip-family.js';
import { word } from './shape.js';

/** Shapes of what several answers have in common. */
export const family = word<IpFamily>();

export const protocol = word<Protocol>();
