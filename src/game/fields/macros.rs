//! `fields!`: lists the fields of a type, and checks the list by destructuring.

/// Lists the fields of a struct or the variants of an enum, and implements [`Fields`](crate::Fields) from that list.
///
/// ```
/// use rebout::{checksum, fields};
///
/// #[derive(Clone, Copy)]
/// struct Point(i32, i32);
/// fields!(Point(x, y));
///
/// #[derive(Clone, Copy)]
/// enum Action { Idle, Attack { since: u32, hit: bool }, Stunned(u16) }
/// fields!(enum Action { Idle, Attack { since, hit }, Stunned(frames) });
///
/// #[derive(Clone, Copy)]
/// struct Fighter { at: Point, action: Action, sparks: f32 }
/// fields!(Fighter { at, action, sparks: _ });      // `_`: restored with the state, never compared
///
/// #[derive(Clone, Copy)]
/// struct Pair<T, const N: usize> { items: [T; N], open: Option<T> }
/// fields!(Pair<T, const N: usize> { items, open });
///
/// let fighter = Fighter { at: Point(1, 2), action: Action::Stunned(3), sparks: 0.5 };
/// let elsewhere = Fighter { sparks: 0.7, ..fighter };
/// assert_eq!(checksum(&fighter), checksum(&elsewhere));
/// # let _ = (Action::Idle, Action::Attack { since: 0, hit: false }, Pair { items: [1_u8; 2], open: None });
/// ```
///
/// A list that misses a field does not compile, and the error names the field:
///
/// ```compile_fail
/// # use rebout::fields;
/// struct Fighter { hp: i32, meter: i32 }
/// fields!(Fighter { hp }); // error[E0027]: pattern does not mention field `meter`
/// ```
///
/// A missing variant, an `f32` field and a `usize` field do not compile either:
///
/// ```compile_fail
/// # use rebout::fields;
/// enum Action { Idle, Jump }
/// fields!(enum Action { Idle }); // error[E0004]: pattern `&Action::Jump` not covered
/// ```
/// ```compile_fail
/// # use rebout::fields;
/// struct Fighter { x: f32 }
/// fields!(Fighter { x }); // error[E0277]: `f32` cannot be part of a simulation state
/// ```
/// ```compile_fail
/// # use rebout::fields;
/// struct Fighter { target: usize }
/// fields!(Fighter { target }); // error[E0277]: `usize` cannot be part of a simulation state
/// ```
#[macro_export]
macro_rules! fields {
    // The name and the body of a type are passed on in repetitions of nothing but `tt`, because those alone keep their place in
    // the source. For a pattern with a name from elsewhere, the compiler does not name the missing field.
    (enum $($name:tt < $($rest:tt)*)?) => { $crate::fields!(@params enum [$($name)+] [] [] $($($rest)*)+); };
    (enum $($name:tt $body:tt)+) => { $crate::fields!(@impl enum [$($name)+] [] [] $($body)+); };

    // Generic parameters: `T` (bounded by `Fields`), `'a`, `const N: usize`.
    (@params $kind:ident $name:tt [$($gen:tt)*] [$($arg:tt)*] > $($body:tt)+) => {
        $crate::fields!(@impl $kind $name [$($gen)*] [$($arg)*] $($body)+);
    };
    (@params $kind:ident $name:tt [$($gen:tt)*] [$($arg:tt)*] , $($rest:tt)*) => {
        $crate::fields!(@params $kind $name [$($gen)*] [$($arg)*] $($rest)*);
    };
    (@params $kind:ident $name:tt [$($gen:tt)*] [$($arg:tt)*] const $param:ident : $type:ident $($rest:tt)*) => {
        $crate::fields!(@params $kind $name [$($gen)* const $param: $type,] [$($arg)* $param,] $($rest)*);
    };
    (@params $kind:ident $name:tt [$($gen:tt)*] [$($arg:tt)*] $param:lifetime $($rest:tt)*) => {
        $crate::fields!(@params $kind $name [$($gen)* $param,] [$($arg)* $param,] $($rest)*);
    };
    (@params $kind:ident $name:tt [$($gen:tt)*] [$($arg:tt)*] $param:ident $($rest:tt)*) => {
        $crate::fields!(@params $kind $name [$($gen)* $param: $crate::Fields,] [$($arg)* $param,] $($rest)*);
    };

    (@impl struct [$($name:tt)+] [$($gen:tt)*] [$($arg:tt)*] $($body:tt)+) => {
        impl<$($gen)*> $crate::Fields for $($name)+<$($arg)*> {
            #[inline]
            fn visit<V: $crate::Visitor>(&self, visitor: &mut V) {
                // The body is used as the pattern as it was written, and the compiler's error names a missing field.
                let $($name)+ $($body)+ = self;
                $crate::fields!(@body visitor $($body)+);
                let _ = visitor;
            }
        }
    };
    (@impl enum $name:tt $gen:tt $arg:tt { $($variants:tt)* }) => {
        $crate::fields!(@variants $name $gen $arg [] $($variants)*);
    };

    // Variants, each as a group `[Name { fields }]`. Several at once, because recursion is limited to 128 levels.
    (@variants $name:tt $gen:tt $arg:tt [$($done:tt)*]) => {
        $crate::fields!(@enum $name $name $gen $arg [$($done)*] [$($done)*]);
    };
    (@variants $name:tt $gen:tt $arg:tt [$($done:tt)*]
        $a:ident, $b:ident, $c:ident, $d:ident, $e:ident, $f:ident, $g:ident, $h:ident, $($rest:tt)*) => {
        $crate::fields!(@variants $name $gen $arg
            [$($done)* [$a] [$b] [$c] [$d] [$e] [$f] [$g] [$h]] $($rest)*);
    };
    (@variants $name:tt $gen:tt $arg:tt [$($done:tt)*]
        $a:ident $in_a:tt, $b:ident $in_b:tt, $c:ident $in_c:tt, $d:ident $in_d:tt, $($rest:tt)*) => {
        $crate::fields!(@variants $name $gen $arg
            [$($done)* [$a $in_a] [$b $in_b] [$c $in_c] [$d $in_d]] $($rest)*);
    };
    (@variants $name:tt $gen:tt $arg:tt [$($done:tt)*] $variant:ident $(, $($rest:tt)*)?) => {
        $crate::fields!(@variants $name $gen $arg [$($done)* [$variant]] $($($rest)*)?);
    };
    (@variants $name:tt $gen:tt $arg:tt [$($done:tt)*] $variant:ident $body:tt $(, $($rest:tt)*)?) => {
        $crate::fields!(@variants $name $gen $arg [$($done)* [$variant $body]] $($($rest)*)?);
    };
    (@enum [$type:ident] $name:tt [$($gen:tt)*] [$($arg:tt)*]
        [$([$variant:ident $($body:tt)?])*] [$($group:tt)*]) => {
        impl<$($gen)*> $crate::Fields for $type<$($arg)*> {
            #[inline]
            fn visit<V: $crate::Visitor>(&self, visitor: &mut V) {
                #[allow(clippy::enum_variant_names)]
                enum Position { $($variant),* }
                // Two matches and one call for word and name: a call in every arm would compile to a jump table.
                let word = match self { $($type::$variant { .. } => Position::$variant as u32),* };
                let shown = match self { $($type::$variant { .. } => ::core::stringify!($variant)),* };
                visitor.leaf(&[word], &shown);
                match self {
                    $($crate::fields!(@pattern $name $group) => {
                        $($crate::fields!(@body visitor $body);)?
                    })*
                }
            }
        }
    };
    (@pattern [$($name:tt)+] [$($variant:tt)+]) => { $($name)+ :: $($variant)+ };

    (@body $visitor:ident { $($field:tt $(: $skip:tt)?),* $(,)? }) => {
        $($crate::fields!(@field $visitor $field $(: $skip)?);)*
    };
    (@body $visitor:ident ( $($field:tt),* $(,)? )) => { $($crate::fields!(@field $visitor $field);)* };
    (@field $visitor:ident ..) => {
        ::core::compile_error!("`fields!` lists every field: write `name: _` for one that is not compared");
    };
    (@field $visitor:ident _) => { $visitor.skipped("_"); };
    (@field $visitor:ident $field:tt : _) => { $visitor.skipped(::core::stringify!($field)); };
    // A `tt` keeps its place in the source, so that the error about a type points at its field.
    (@field $visitor:ident $field:tt) => { $visitor.field(::core::stringify!($field), $field); };

    ($($name:tt < $($rest:tt)*)?) => { $crate::fields!(@params struct [$($name)+] [] [] $($($rest)*)+); };
    ($($name:tt $body:tt)+) => { $crate::fields!(@impl struct [$($name)+] [] [] $($body)+); };
}
