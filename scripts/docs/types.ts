// Types and signatures as TypeScript text.

import type { Callable, Member, Parameter, Source, TypeNode } from "./source.ts";

type Literal = { kind: string; string?: string; number?: number; boolean?: boolean };

/** Writes the types of one file. */
export class TypeWriter {
  readonly #source: Source;
  readonly #file: string;
  constructor(source: Source, file: string) {
    this.#source = source;
    this.#file = file;
  }

  type(node: TypeNode | undefined): string {
    const value = node?.value;
    const one = (): string => this.type(value as TypeNode);
    const many = (between: string): string =>
      (value as TypeNode[]).map((each) => this.#grouped(each, between)).join(between);
    switch (node?.kind) {
      case undefined:
        return "unknown";
      case "union":
        return many(" | ");
      case "intersection":
        return many(" & ");
      case "array":
        return `${this.#grouped(value as TypeNode, "[]")}[]`;
      case "tuple":
        return `[${(value as TypeNode[]).map((each) => this.type(each)).join(", ")}]`;
      case "parenthesized":
        return `(${one()})`;
      case "literal":
        return literal(value as Literal);
      case "typeQuery":
        return `typeof ${value}`;
      case "typeRef":
        return this.#reference(value as { typeName: string; typeParams?: TypeNode[] });
      case "typeOperator": {
        const { operator, tsType } = value as { operator: string; tsType: TypeNode };
        return (operator === "keyof" && this.#keys(tsType)) || `${operator} ${this.type(tsType)}`;
      }
      case "fnOrConstructor": {
        const { params, tsType } = value as { params: Parameter[]; tsType: TypeNode };
        return `(${this.parameters(params)}) => ${this.type(tsType)}`;
      }
      case "indexedAccess":
        return this.#indexed(value as { objType: TypeNode; indexType: TypeNode });
      case "typeLiteral":
        return this.#literal(value as { properties?: Member[]; methods?: Member[] });
      default:
        if (node?.repr === undefined)
          throw new Error(`docs: found a type of kind ${node?.kind}, expected one it knows`);
        return node.repr;
    }
  }

  parameters(params: Parameter[]): string {
    return params.map((each) => this.#parameter(each)).join(", ");
  }

  /** `name<T>(a: A): B` */
  callable(name: string, { params, returnType, typeParams = [] }: Callable): string {
    const generic = typeParams.map(({ name: own, constraint }) =>
      constraint ? `${own} extends ${this.type(constraint)}` : own,
    );
    const open = generic.length > 0 ? `<${generic.join(", ")}>` : "";
    return `${name}${open}(${this.parameters(params)}): ${this.type(returnType)}`;
  }

  #parameter(given: Parameter, optional = false): string {
    if (given.kind === "assign" && given.left) return this.#parameter(given.left, true);
    if (given.kind === "rest" && given.arg)
      return `...${given.arg.name ?? "rest"}: ${this.type(given.tsType ?? given.arg.tsType)}`;
    // One that is taken apart has no name of its own.
    const name = given.name ?? "options";
    return `${name}${optional || given.optional ? "?" : ""}: ${this.type(given.tsType)}`;
  }

  #reference({ typeName, typeParams = [] }: { typeName: string; typeParams?: TypeNode[] }): string {
    return typeParams.length > 0
      ? `${typeName}<${typeParams.map((each) => this.type(each)).join(", ")}>`
      : typeName;
  }

  #grouped(node: TypeNode, around: string): string {
    const text = this.type(node);
    const loose =
      node.kind === "fnOrConstructor" ||
      (around !== " | " && ["union", "intersection"].includes(node.kind)) ||
      (around === "[]" && node.kind === "typeOperator");
    return loose ? `(${text})` : text;
  }

  /** `(typeof NAMES)[number]` is written as the names themselves. */
  #indexed({ objType, indexType }: { objType: TypeNode; indexType: TypeNode }): string {
    const inner = objType.kind === "parenthesized" ? (objType.value as TypeNode) : objType;
    const [listed] = inner.kind === "typeQuery" ? this.#source.find(this.#file, String(inner.value)) : [];
    const list = listed?.def.tsType;
    if (list?.kind === "array") return this.type(list.value as TypeNode);
    return `${this.type(objType)}[${this.type(indexType)}]`;
  }

  /** `keyof typeof TABLE` likewise. */
  #keys(node: TypeNode): string | undefined {
    const [table] = node.kind === "typeQuery" ? this.#source.find(this.#file, String(node.value)) : [];
    if (table?.def.tsType?.kind !== "typeLiteral") return undefined;
    const { properties = [] } = table.def.tsType.value as { properties?: Member[] };
    return properties.map(({ name }) => JSON.stringify(name)).join(" | ");
  }

  #literal({ properties = [], methods = [] }: { properties?: Member[]; methods?: Member[] }): string {
    const parts = [...properties, ...methods].map((member) => this.member(member));
    return parts.length > 0 ? `{ ${parts.join("; ")} }` : "{}";
  }

  /** `name?: T`, or a method. */
  member(member: Member): string {
    const callable = callableOf(member);
    if (callable && member.kind !== "getter") return this.callable(member.name, callable);
    return `${member.name}${member.optional ? "?" : ""}: ${this.type(callable?.returnType ?? member.tsType)}`;
  }
}

/** The signature of a method or getter. */
export function callableOf({ functionDef, params, returnType, typeParams }: Member): Callable | undefined {
  if (functionDef) return functionDef;
  return params && { params, ...(returnType && { returnType }), ...(typeParams && { typeParams }) };
}

function literal({ kind, string, number, boolean }: Literal): string {
  return kind === "string" ? JSON.stringify(string) : String(kind === "number" ? number : boolean);
}
