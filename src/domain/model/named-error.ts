/**
 * An error that goes by the name of its class. A class that refers to itself in static members cannot be one: bundled, it has another
 * name.
 */
export abstract class NamedError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}
