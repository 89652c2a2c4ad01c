/**
 * The order in which endpoints take turns, for ever: each as often as its weight asks for, as evenly as whole turns allow.
 * @param weights above 0, whole
 * @param isEarly each has its first turn at the start, so that none is left out where turns are few
 * @returns places in `weights`
 */
export function* turns(weights: readonly number[], isEarly = false): Generator<number, never> {
  const whole = isEarly ? Math.ceil : Math.floor;
  const greatest = weights.reduce((most, weight) => Math.max(most, weight), 0);
  for (let round = 1; ; round++)
    for (let place = 0; place < weights.length; place++) {
      const weight = weights[place]!;
      // Rounds that many are due after this one, but were not before.
      if (whole((weight * round) / greatest) > whole((weight * (round - 1)) / greatest)) yield place;
    }
}

/** After how many turns all have had as many as their weights say, exactly. */
export function turnsOfPeriod(weights: readonly number[]): number {
  const divisor = weights.reduce(greatestCommonDivisor, 0);
  return weights.reduce((sum, weight) => sum + weight, 0) / divisor;
}

function greatestCommonDivisor(one: number, other: number): number {
  return other === 0 ? one : greatestCommonDivisor(other, one % other);
}
