import type {
  EndpointReport,
  EndpointUse,
  PortReport,
  TrafficReport,
} from '../../domain/traffic/traffic-report.js';
import { family, protocol } from './node-shapes.js';
import { fieldsOf, flag, list, number, optional, text, time, word } from './shape.js';

const numbers = {
  open: number,
  new: number,
  newPerSecond: number,
  unanswered: number,
  bytes: optional(number),
  bytesPerSecond: optional(number),
};

/** One line of the answer to `/debug/traffic`. */
export const trafficAnswer = fieldsOf<TrafficReport>({
  time,
  seconds: number,
  services: list(
    fieldsOf<PortReport>({
      ...numbers,
      namespace: text,
      name: text,
      port: text,
      protocol,
      family,
      silentEndpoints: number,
      endpoints: list(
        fieldsOf<EndpointReport>({
          ...numbers,
          address: text,
          port: number,
          state: word<EndpointUse>(),
          silent: flag,
        }),
      ),
    }),
  ),
  omitted: number,
  complete: flag,
  readShare: number,
  sampledOneIn: number,
  timesLost: number,
  tracked: number,
  countsBytes: flag,
  tracksServices: flag,
  hidesDeadOnBridges: optional(flag),
});
