//! The values of expressions. Most of a check is spent here.

use super::{Env, EvalFault};
use crate::meaning::arith;
use crate::schedule::expr::{Binary, Builtin, Expr, Unary};

/// A value that fits two registers, because the fault is elsewhere.
type Value = Result<i64, Box<EvalFault>>;

#[cold]
fn overflow(e: &Expr) -> Box<EvalFault> {
    Box::new(EvalFault::Overflow { expr: e.to_string() })
}

#[cold]
fn by_zero(divisor: &Expr) -> Box<EvalFault> {
    Box::new(EvalFault::DivisionByZero { divisor: divisor.to_string() })
}

impl Env<'_> {
    /// The value of an expression.
    pub fn eval(&mut self, e: &Expr) -> Result<i64, EvalFault> {
        self.value(e).map_err(|fault| *fault)
    }

    /// The same, inlined where the value is at hand.
    #[inline(always)]
    fn operand(&mut self, e: &Expr) -> Value {
        match e {
            Expr::Int(n) => Ok(*n),
            Expr::Var(v) => Ok(self.values[v.slot]),
            e => self.value(e),
        }
    }

    fn value(&mut self, e: &Expr) -> Value {
        match e {
            Expr::Int(n) => Ok(*n),
            Expr::Bool(b) => Ok(*b as i64),
            Expr::Var(v) => Ok(self.values[v.slot]),
            Expr::Element(list, index) => {
                let (index, list) = (self.value(index)?, &self.args.lists[list.slot]);
                let element = usize::try_from(index).ok().and_then(|i| list.get(i));
                let fault = || EvalFault::NoElement { expr: e.to_string(), index, len: list.len() };
                element.copied().ok_or_else(|| Box::new(fault()))
            }
            Expr::Length(list) => Ok(self.args.lists[list.slot].len() as i64),
            Expr::Product(list, plus, n) => {
                let n = self.value(n)?;
                arith::checked_product(&self.args.lists[list.slot], *plus, n).ok_or_else(|| overflow(e))
            }
            Expr::Unary(op, a) => {
                let a = self.value(a)?;
                match op {
                    Unary::Neg => a.checked_neg().ok_or_else(|| overflow(e)),
                    Unary::Not => Ok((a == 0) as i64),
                }
            }
            Expr::Binary(op, a, b) => self.binary(e, *op, a, b),
            Expr::Builtin(function, args) => self.builtin(e, *function, args),
            Expr::Call(_, index, args) => self.call(*index, args),
            Expr::If(c, a, b) => {
                let branch = if self.operand(c)? != 0 { a } else { b };
                self.operand(branch)
            }
        }
    }

    fn binary(&mut self, whole: &Expr, op: Binary, left: &Expr, right: &Expr) -> Value {
        let a = self.operand(left)?;
        match op {
            Binary::And if a == 0 => return Ok(0),
            Binary::Or if a != 0 => return Ok(1),
            _ => {}
        }
        let b = self.operand(right)?;
        let value = match op {
            Binary::Add => a.checked_add(b),
            Binary::Sub => a.checked_sub(b),
            Binary::Mul => a.checked_mul(b),
            Binary::Div | Binary::Rem if b == 0 => return Err(by_zero(right)),
            Binary::Div => arith::checked_div(a, b),
            Binary::Rem => arith::checked_rem(a, b),
            Binary::BitAnd => Some(a & b),
            Binary::BitOr => Some(a | b),
            Binary::BitXor => Some(a ^ b),
            Binary::Shl => arith::checked_shl(a, b),
            Binary::Shr => arith::checked_shr(a, b),
            Binary::Eq => Some((a == b) as i64),
            Binary::Ne => Some((a != b) as i64),
            Binary::Lt => Some((a < b) as i64),
            Binary::Le => Some((a <= b) as i64),
            Binary::Gt => Some((a > b) as i64),
            Binary::Ge => Some((a >= b) as i64),
            Binary::And | Binary::Or => Some((b != 0) as i64),
        };
        value.ok_or_else(|| overflow(whole))
    }

    fn builtin(&mut self, whole: &Expr, function: Builtin, args: &[Expr]) -> Value {
        let mut v = [0i64; 3];
        for (value, arg) in v.iter_mut().zip(args) {
            *value = self.operand(arg)?;
        }
        if function == Builtin::CeilDiv && v[1] == 0 {
            return Err(by_zero(&args[1]));
        }
        let value = match function {
            Builtin::Min => Some(v[0].min(v[1])),
            Builtin::Max => Some(v[0].max(v[1])),
            Builtin::Pow => arith::checked_pow(v[0], v[1]),
            Builtin::CeilLog => arith::checked_ceil_log(v[0], v[1]),
            Builtin::FloorLog => arith::checked_floor_log(v[0], v[1]),
            Builtin::CeilDiv => arith::checked_ceil_div(v[0], v[1]),
            Builtin::Gcd => arith::checked_gcd(v[0], v[1]),
            Builtin::Digit => arith::checked_digit(v[0], v[1], v[2]),
            Builtin::DigitSum => arith::checked_digit_sum(v[0], v[1]),
            Builtin::PartSize => arith::checked_part_size(v[0], v[1], v[2]),
            Builtin::PartBegin => arith::checked_part_begin(v[0], v[1], v[2]),
            Builtin::PartOf => arith::checked_part_of(v[0], v[1], v[2]),
            Builtin::FirstRank => Some(self.place.first_rank(v[0])),
            Builtin::NodeSize => Some(self.place.node_size(v[0])),
            Builtin::Pair => Some(arith::pair(v[0], v[1], self.p)),
        };
        let undefined = || EvalFault::Undefined { expr: whole.to_string(), values: v[..args.len()].to_vec() };
        value.ok_or_else(|| Box::new(undefined()))
    }

    /// Definitions use only earlier ones, so an argument's slot is never in use twice.
    fn call(&mut self, index: usize, args: &[Expr]) -> Value {
        let function = &self.schedule.functions[index];
        self.spend(1, || function.name.clone())?;
        match (&function.args[..], args) {
            ([], _) => {}
            ([var], [arg]) => self.values[var.slot] = self.operand(arg)?,
            (vars, _) => {
                let mut values = [0i64; 8];
                for (value, arg) in values.iter_mut().zip(args) {
                    *value = self.operand(arg)?;
                }
                for (var, value) in vars.iter().zip(values) {
                    self.values[var.slot] = value;
                }
            }
        }
        if let Some((value, steps)) = self.memo.get(index, &self.values)
            && steps <= self.budget
        {
            self.budget -= steps;
            return Ok(value);
        }
        let before = self.budget;
        let value = self.value(&function.body).map_err(|fault| Box::new(fault.inside(index)))?;
        self.memo.put(&self.schedule.functions, index, &self.values, value, before - self.budget);
        Ok(value)
    }
}
